//! `reread`: parse, call the application, print. The only crate that knows
//! environment variables, terminals and exit codes.

mod args;
mod clock;
mod commands;
mod demo;
mod exit;
mod faults;
mod limits;
mod printer;
mod progress;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Cli;
use crate::printer::{Form, Printer, Talk};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return exit::of_parse(&error, &arguments),
    };
    let form = if cli.global.json {
        Form::Json
    } else {
        Form::Text
    };
    let talk = if cli.global.quiet {
        Talk::Quiet
    } else {
        Talk::Normal
    };
    let mut printer = Printer::new(form, talk);
    match commands::run(&cli, &mut printer) {
        Ok(code) => code,
        Err(error) => exit::of_error(&error, &printer),
    }
}
