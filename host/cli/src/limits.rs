//! What this program does not promise, in its own words.

/// The text of `reread limits`.
pub(crate) const TEXT: &str = "\
What Reread does not promise

evidence    A matching hash shows that bytes are the ones that were stored. It does not show
            that they are what the provider sent, nor that what a model said is true.
imports     An imported exchange is as exact as the file it came from; Reread keeps the bytes
            that the file gives and cannot see the wire behind them.
readings    A newer module is not right because it is newer. It reads the same bytes by other
            rules, and the record says which module read which bytes.
actors      An actor is a name on a record. It is not authentication.
history     Whoever holds the ledger file and the log key can rewrite all of history. Only a
            checkpoint kept elsewhere catches that: print one with `reread checkpoint`, keep it
            where this home's owner cannot write, and hold the home against it with
            `reread verify --against FILE`.
effects     Reinterpretation changes what is concluded and what is to be done next. It undoes
            nothing that was done. A call to a provider is never promised to happen exactly
            once: a process that dies between sending and recording leaves a call whose effect
            is unknown, and says so. An idempotency key holds within one home; the provider
            does not know it.
checks      A verifier that is a program runs with the rights of whoever starts it; it is not
            sandboxed, and what it says is recorded, not proved. Its output is kept.
work        Completed means that somebody, by a name, accepted exact bytes on the evidence that
            is cited. It does not say that the work is good. A later reading can take the
            ground away: the task stays completed, and `reread impact` says what moved.
secrets     Keys and header values of providers are sent and never written. A kept header that
            echoes one is dropped; a body that echoes one is kept as it came. What is redacted
            in a URL cannot be held against a later one.
calls       Requests are HTTP/1.1, one connection each, without proxies of the environment and
            without redirects. A request is at most 48 MiB; a response that passes 63 MiB with
            its request is cut and recorded as interrupted.
refusal     When bytes are missing, altered, withheld or erased, every reading of them is
            refused. Nothing derived ever stands in for them.
copies      Files are readable by their owner only. They are not encrypted; whoever can read
            the owner's files, or a backup of them, can read the bodies.
sandbox     A module has no imports, bounded fuel, memory, tables, stack and result. An unknown
            module is compiled in a child process of 60 s and 1 GiB. A module that is slow
            within its fuel is slow.
scale       Bodies are at most 64 MiB, events 65,503 bytes, attempts per call 64.
";
