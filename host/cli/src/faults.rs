//! Fault points of this process, armed only by the process that started it.
//!
//! Standard input must be one end of a pair of sockets that the direct parent made,
//! and the first bytes waiting there must be a script. A shell, a file, a pipe, a
//! variable or a flag cannot bring that about. The script is text, one rule a line:
//!
//! ```text
//! reread-faults-1
//! kill after:attempt.observed 1
//! fail before:call.manifest 1
//! hold before:exchange 2
//! swap received 1 120
//! trace
//! end
//! ```
//!
//! A rule names what happens, the point, and at which time of reaching it. `kill` is
//! SIGKILL, `fail` an error, `hold` waits until the parent sends a byte. With `trace`
//! or `hold`, the point is told to the parent as a line `before:exchange 2`. `swap`
//! names a buffer instead, and the place of the byte that changes places with the next.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

use app::fault::{Buffer, Faults, Injected, NoFaults, Point};
use rustix::net::RecvFlags;
use rustix::process::{Signal, getpid, kill_process};

/// The first line of a script.
pub(crate) const MAGIC: &str = "reread-faults-1\n";

/// The most bytes of a script.
const SCRIPT_BYTES_MAX: usize = 4096;

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Kill,
    Fail,
    Hold,
    /// The byte at this place changes places with the next one.
    Swap(usize),
}

/// One line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    action: Action,
    point: String,
    time: u32,
}

/// What a script says, and how often each point was reached.
#[derive(Debug)]
struct Armed {
    rules: Vec<Rule>,
    trace: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    parent: UnixStream,
    reached: Vec<(String, u32)>,
}

/// Returns what happens at fault points: nothing, unless the parent armed them.
pub(crate) fn inherited() -> Box<dyn Faults + Send + Sync> {
    match armed() {
        Some(armed) => Box::new(armed),
        None => Box::new(NoFaults),
    }
}

fn armed() -> Option<Armed> {
    let stdin = std::io::stdin();
    let fd = stdin.as_fd();
    let mut parent = UnixStream::from(fd.try_clone_to_owned().ok()?);
    if !parent.peer_addr().ok()?.is_unnamed() || !made_by_parent(fd) {
        return None;
    }
    // What is no script stays where it is: it is only looked at.
    let mut bytes = [0; SCRIPT_BYTES_MAX];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    let (length, _) = rustix::net::recv(fd, &mut bytes[..], flags).ok()?;
    let text = str::from_utf8(bytes.get(..length)?).ok()?;
    let (rules, trace, used) = parse(text)?;
    let mut script = vec![0; used];
    parent.read_exact(&mut script).ok()?;
    let reached = Vec::new();
    Some(Armed {
        rules,
        trace,
        state: Mutex::new(State { parent, reached }),
    })
}

/// Returns whether the direct parent made the pair that this end belongs to.
#[cfg(target_os = "linux")]
fn made_by_parent(fd: BorrowedFd<'_>) -> bool {
    let maker = rustix::net::sockopt::socket_peercred(fd).map(|peer| peer.pid);
    maker.ok() == rustix::process::getppid()
}

/// Returns true: this system does not say who made a pair of sockets.
#[cfg(not(target_os = "linux"))]
fn made_by_parent(_fd: BorrowedFd<'_>) -> bool {
    true
}

fn parse(text: &str) -> Option<(Vec<Rule>, bool, usize)> {
    let body = text.strip_prefix(MAGIC)?;
    let mut rules = Vec::new();
    let mut trace = false;
    let used = Cell::new(MAGIC.len());
    for line in body.split_inclusive('\n') {
        used.set(used.get() + line.len());
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["end"] => return Some((rules, trace, used.get())),
            ["trace"] => trace = true,
            [action, point, time] => rules.push(Rule {
                action: match *action {
                    "kill" => Action::Kill,
                    "fail" => Action::Fail,
                    "hold" => Action::Hold,
                    _ => return None,
                },
                point: (*point).to_owned(),
                time: time.parse().ok()?,
            }),
            ["swap", buffer, time, place] => rules.push(Rule {
                action: Action::Swap(place.parse().ok()?),
                point: (*buffer).to_owned(),
                time: time.parse().ok()?,
            }),
            _ => return None,
        }
    }
    None
}

impl Faults for Armed {
    fn reach(&self, point: Point) -> Result<(), Injected> {
        let name = point.to_string();
        let Ok(mut state) = self.state.lock() else {
            return Err(Injected);
        };
        let time = state.count(&name);
        let action = self.action(&name, time);
        if self.trace || action == Some(Action::Hold) {
            // A parent that is gone has nothing to be told.
            writeln!(state.parent, "{name} {time}").ok();
        }
        match action {
            None | Some(Action::Swap(_)) => Ok(()),
            Some(Action::Fail) => Err(Injected),
            Some(Action::Hold) => {
                let mut go = [0];
                state.parent.read_exact(&mut go).map_err(|_gone| Injected)
            }
            Some(Action::Kill) => loop {
                kill_process(getpid(), Signal::KILL).ok();
            },
        }
    }

    fn pass(&self, buffer: Buffer, bytes: &mut [u8]) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let time = state.count(buffer.as_str());
        if let Some(Action::Swap(place)) = self.action(buffer.as_str(), time)
            && place.saturating_add(1) < bytes.len()
        {
            bytes.swap(place, place + 1);
        }
    }
}

impl Armed {
    fn action(&self, name: &str, time: u32) -> Option<Action> {
        let rule = self
            .rules
            .iter()
            .find(|rule| rule.point == name && rule.time == time);
        rule.map(|rule| rule.action)
    }
}

impl State {
    fn count(&mut self, name: &str) -> u32 {
        if let Some((_, times)) = self.reached.iter_mut().find(|(known, _)| known == name) {
            *times += 1;
            return *times;
        }
        self.reached.push((name.to_owned(), 1));
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_to_its_end_and_no_further() {
        let text = "reread-faults-1\nkill after:attempt.observed 2\ntrace\nend\nrest";
        let rule = Rule {
            action: Action::Kill,
            point: "after:attempt.observed".to_owned(),
            time: 2,
        };
        assert_eq!(parse(text), Some((vec![rule], true, text.len() - 4)));
    }

    #[test]
    fn a_swap_names_a_buffer_a_time_and_a_place() {
        let text = "reread-faults-1\nswap received 1 120\nend\n";
        let rule = Rule {
            action: Action::Swap(120),
            point: "received".to_owned(),
            time: 1,
        };
        assert_eq!(parse(text), Some((vec![rule], false, text.len())));
    }

    #[test]
    fn what_is_no_whole_script_arms_nothing() {
        for text in [
            "",
            "reread-faults-1\n",
            "reread-faults-1\ntrace\n",
            "reread-faults-2\nend\n",
            "x reread-faults-1\nend\n",
            "reread-faults-1\nkill after:exchange\nend\n",
            "reread-faults-1\nkill after:exchange x\nend\n",
            "reread-faults-1\nstop after:exchange 1\nend\n",
            "reread-faults-1\nswap received 1\nend\n",
            "reread-faults-1\nswap received 1 -1\nend\n",
            "reread-faults-1\nswap received 1 99999999999999999999999\nend\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
