//! `module …`, and the child process that compiles unknown modules.

use app::Session;
use app::module::ModuleView;

use crate::args::ModuleCommand;
use crate::exit;
use crate::printer::Printer;

pub(super) fn run(
    command: &ModuleCommand,
    session: &mut Session,
    printer: &mut Printer,
) -> anyhow::Result<u8> {
    match command {
        ModuleCommand::Add { file } => {
            let added = session.add_module(file)?;
            if printer.is_json() {
                printer.document(&added)?;
            } else {
                let what = if added.appended == 0 {
                    "was registered before"
                } else {
                    "registered"
                };
                printer.line(format!("{} {} {what}", added.world, added.module))?;
            }
        }
        ModuleCommand::List => {
            for module in session.modules() {
                if printer.is_json() {
                    printer.document(&module)?;
                } else {
                    printer.line(list_line(&module))?;
                }
            }
        }
        ModuleCommand::Show { module } => {
            let detail = session.module(module)?;
            super::view::module(&detail, printer)?;
        }
    }
    Ok(exit::DONE)
}

fn list_line(module: &ModuleView) -> String {
    let registered = &module.registered;
    format!(
        "{:<28} {:<12} {} {} bytes, {}, {}",
        registered.module.label.as_str(),
        registered.world,
        registered.module.sha256,
        registered.length,
        registered.source,
        module.bytes
    )
}

/// Compiles what comes in on standard input; limits are set before anything is read.
pub(super) fn compile_child() -> anyhow::Result<u8> {
    app::module::compile_child(&mut std::io::stdin().lock(), &mut std::io::stdout())?;
    Ok(exit::DONE)
}
