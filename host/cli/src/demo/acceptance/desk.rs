//! A desk: one home with one task, where a paragraph is written, checked and accepted,
//! each by an actor and a process of its own.

use std::fs;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::demo::look::{Work, one, task_events, task_state, work};
use crate::demo::provider::{self, Provider};
use crate::demo::stage::{Ran, Stage, text};

/// The paragraph that is asked for, as a good writer returns it.
pub(super) const PARAGRAPH: &str = "Edge caches keep rendered pages near the people who read \
    them [S1]. They answer most requests without waking the origin. When a page changes, each \
    copy is told to let go of it.";

/// The same with a figure that the criteria forbid.
pub(super) const WITH_FIGURE: &str = "Edge caches keep rendered pages near the people who read \
    them [S1]. They answer most requests without waking the origin. About 73% of the pages are \
    never asked for again.";

/// The good paragraph after somebody worked on it.
pub(super) const EDITED: &str = "Edge caches keep rendered pages near their readers [S1]. They \
    answer most requests without waking the origin. When a page changes, each copy is told to \
    let go of it.";

/// One criterion a line; the verifier knows what each means.
const CRITERIA: &str = "gives no percentage\n\
    names the source [S1] exactly once\n\
    says that they answer most requests without waking the origin\n";

/// The request. The file is sent exactly as it is.
const REQUEST: &str = concat!(
    r#"{"model":"kestrel-2","max_completion_tokens":120,"messages":[{"role":"user","#,
    r#""content":"Rewrite the note on edge caches as one paragraph. Keep the source mark."}]}"#,
    "\n"
);

/// The verifier: a program that knows nothing of this one.
const VERIFIER: &str = include_str!("check-paragraph.sh");

/// Everything but accepting.
const PRODUCING: [&str; 6] = [
    "read",
    "write",
    "execute",
    "version_control",
    "remote",
    "destructive",
];

/// The rules of the story.
pub(super) const POLICY: &str = "task-acceptance-v1";

/// Returns the body of a response with this text.
pub(super) fn answer(paragraph: &str, finish_reason: &str) -> String {
    json!({
        "id": "chatcmpl-paragraph",
        "object": "chat.completion",
        "model": "kestrel-2",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": paragraph},
            "finish_reason": finish_reason,
        }],
        "usage": {"prompt_tokens": 61, "completion_tokens": 44, "total_tokens": 105},
    })
    .to_string()
}

/// Writes what every desk of the story uses.
pub(super) fn prepare(stage: &Stage) -> anyhow::Result<()> {
    for (name, content) in [
        ("criteria.txt", CRITERIA),
        ("request.json", REQUEST),
        ("check-paragraph.sh", VERIFIER),
        ("edited.txt", EDITED),
    ] {
        fs::write(stage.path(name), content).with_context(|| format!("writing {name}"))?;
    }
    Ok(())
}

/// One home and its task.
pub(super) struct Desk<'s> {
    pub(super) stage: &'s Stage,
    pub(super) home: String,
    pub(super) task: String,
}

/// What an acceptance cites.
#[derive(Debug, Clone)]
pub(super) struct Cited {
    pub(super) artifact: String,
    pub(super) interpretation: String,
    pub(super) check: Option<String>,
}

impl<'s> Desk<'s> {
    /// Declares the task in a home that exists. `editor` may accept; `producer` may do
    /// everything else, and so may whoever else is named.
    pub(super) fn declare(stage: &'s Stage, home: &str, grants: &[&str]) -> anyhow::Result<Self> {
        let criteria = stage.path("criteria.txt");
        let criteria = criteria.to_string_lossy();
        let title = "Rewrite the note on edge caches";
        let output = ["--output", "paragraph", "--criteria", &criteria];
        let producing = PRODUCING.map(|capability| format!("producer={capability}"));
        let mut arguments = [&["task", "create", title][..], &output].concat();
        let granted = producing.iter().map(String::as_str);
        for grant in granted
            .chain(["editor=accept"])
            .chain(grants.iter().copied())
        {
            arguments.extend(["--grant", grant]);
        }
        let created = one(stage, home, &arguments)?;
        Ok(Self {
            stage,
            home: home.to_owned(),
            task: text(&created, "/task").to_owned(),
        })
    }

    /// Starts a provider that answers with a paragraph.
    pub(super) fn provider(&self, paragraph: &str, reason: &str) -> anyhow::Result<Provider> {
        Provider::start(self.stage, &self.home, &answer(paragraph, reason))
    }

    /// Returns the arguments of the producer's call.
    pub(super) fn producing(&self) -> Vec<String> {
        let request = self.stage.path("request.json");
        let words = [
            "--actor",
            "producer",
            "call",
            "run",
            "--task",
            &self.task,
            "--provider",
            provider::NAME,
            "--request",
            &request.to_string_lossy(),
            "--interpreter",
            "attempt-interpretation-v2",
            "--policy",
            "attempt-policy-v2",
        ];
        words.map(str::to_owned).to_vec()
    }

    /// Lets the producer make the call and returns the work.
    pub(super) fn produce(&self, paragraph: &str, reason: &str) -> anyhow::Result<Work> {
        let provider = self.provider(paragraph, reason)?;
        let arguments = self.producing();
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        self.stage.must(&self.home, &arguments)?;
        drop(provider);
        work(self.stage, &self.home, &self.task)
    }

    /// Keeps the text of the call, and returns what an acceptance cites of it.
    pub(super) fn keep(&self, work: &Work) -> anyhow::Result<Cited> {
        let store = ["--actor", "producer", "output", &work.attempt, "--store"];
        let kept = one(self.stage, &self.home, &store)?;
        let events = self
            .stage
            .must(&self.home, &["log", "--call", &work.call])?;
        let read = events
            .iter()
            .find(|event| text(event, "/kind") == "attempt.interpreted");
        Ok(Cited {
            artifact: text(&kept, "/sha256").to_owned(),
            interpretation: read.map_or("", |event| text(event, "/id")).to_owned(),
            check: None,
        })
    }

    /// Lets the checker run the verifier over these bytes.
    pub(super) fn check(&self, artifact: &str) -> anyhow::Result<Value> {
        let script = self.stage.path("check-paragraph.sh");
        self.check_by(artifact, &["sh", &script.to_string_lossy()])
    }

    /// Lets the checker run a program over these bytes.
    pub(super) fn check_by(&self, artifact: &str, program: &[&str]) -> anyhow::Result<Value> {
        let run = ["--actor", "checker", "check", "run", "--task", &self.task];
        let what = ["--output", "paragraph", "--artifact", artifact, "--"];
        one(self.stage, &self.home, &[&run[..], &what, program].concat())
    }

    /// Returns the arguments with which an actor accepts.
    pub(super) fn accepting<'a>(&'a self, actor: &'a str, cited: &'a Cited) -> Vec<&'a str> {
        let who = ["--actor", actor, "accept", "--task", &self.task];
        let what = ["--output", "paragraph", "--artifact", &cited.artifact];
        let read = [
            "--interpretation",
            &cited.interpretation,
            "--policy",
            POLICY,
        ];
        let mut arguments = [&who[..], &what, &read].concat();
        if let Some(check) = &cited.check {
            arguments.extend(["--check", check]);
        }
        arguments
    }

    /// Lets an actor accept.
    pub(super) fn accept(&self, actor: &str, cited: &Cited) -> anyhow::Result<Ran> {
        self.stage.run(&self.home, &self.accepting(actor, cited))
    }

    /// Returns the task's events, in order.
    pub(super) fn events(&self) -> anyhow::Result<Vec<Value>> {
        task_events(self.stage, &self.home, &self.task)
    }

    /// Returns the work state of the task.
    pub(super) fn state(&self) -> anyhow::Result<Value> {
        task_state(self.stage, &self.home, &self.task)
    }
}

/// Returns how many events are of a kind.
pub(super) fn of_kind(events: &[Value], kind: &str) -> usize {
    let kinds = events.iter().map(|event| text(event, "/kind"));
    kinds.filter(|one| *one == kind).count()
}

/// Returns the one document that a process printed.
pub(super) fn said(ran: &Ran) -> Value {
    ran.lines.first().cloned().unwrap_or_default()
}
