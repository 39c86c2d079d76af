//! Components built from text: valid ones by default, so that each test changes
//! the one thing that it is about.

use std::fmt::Write as _;

use super::abi::{Memory, Ty, Value, list, none, option, some, text};
use super::types;

/// Where the fixed data of a fixture starts.
const DATA_START: usize = 1024;

/// One exported function of a contract.
struct Function {
    name: &'static str,
    parameters: Vec<(&'static str, Ty)>,
    result: Ty,
    /// The core function's parameters.
    core: &'static str,
    /// What its core function does.
    body: String,
    /// What is done once its result has been taken.
    after: Option<String>,
}

/// A component of one world.
pub(crate) struct Fixture {
    export: String,
    functions: Vec<Function>,
    memory: Memory,
    realloc: String,
    pages: u32,
    pages_max: Option<u32>,
    /// More fields of the core module.
    pub(crate) core: String,
    /// Text at the start of the component.
    pub(crate) before: String,
    /// Text at the end of the component.
    pub(crate) after: String,
    /// Left out of the exported instance.
    pub(crate) without: Option<&'static str>,
}

impl Fixture {
    /// An interpreter whose every reading is [`plain_reading`].
    pub(crate) fn interpreter() -> Self {
        let mut fixture = Self::new("reread:interpreter/reader@0.0.1");
        let input = ("observation", types::observation());
        let configuration = ("configuration", option(Ty::Bytes));
        fixture.function("describe", vec![], types::interpreter_info(), "");
        let reading = types::outcome(types::reading());
        fixture.function(
            "interpret",
            vec![input.clone(), configuration],
            reading,
            "(param i32)",
        );
        fixture.function(
            "decode",
            vec![input],
            types::outcome(Ty::Bytes),
            "(param i32)",
        );
        fixture.returns("describe", &interpreter_info("fixture-v1"));
        fixture.returns("interpret", &ok(plain_reading()));
        fixture.returns("decode", &ok(text("decoded")));
        fixture
    }

    /// A policy that accepts everything.
    pub(crate) fn policy() -> Self {
        let mut fixture = Self::new("reread:policy/decider@0.0.1");
        let configuration = ("configuration", option(Ty::Bytes));
        fixture.function("describe", vec![], types::policy_info(), "");
        fixture.function(
            "decide-attempt",
            vec![("attempt", types::attempt()), configuration.clone()],
            types::outcome(types::attempt_decision()),
            "(param i32)",
        );
        let pair = Ty::Tuple(vec![types::attempt(), types::attempt_decision()]);
        fixture.function(
            "decide-call",
            vec![
                ("attempts", list(pair)),
                ("occasion", types::occasion()),
                configuration,
            ],
            types::outcome(types::call_decision()),
            "(param i32 i32 i32 i32 i32 i32)",
        );
        let info = Value::Fields(vec![
            text("fixture-policy-v1"),
            text("Accepts everything."),
            Value::List(vec![Value::U32(1), Value::U32(2)]),
            Value::List(vec![text("fixture-policy-v0")]),
        ]);
        fixture.returns("describe", &info);
        let accept = Value::Fields(vec![Value::Case(0, None), text("accepted")]);
        fixture.returns("decide-attempt", &ok(accept));
        let failed = Value::Fields(vec![Value::Case(1, None), text("why not")]);
        fixture.returns("decide-call", &ok(failed));
        fixture
    }

    /// An acceptance module that has nothing against anything.
    pub(crate) fn acceptance() -> Self {
        let mut fixture = Self::new("reread:acceptance/judge@0.0.1");
        fixture.function("describe", vec![], types::plain_info(), "");
        fixture.function(
            "decide",
            vec![
                ("request", types::acceptance_request()),
                ("facts", types::acceptance_facts()),
                ("configuration", option(Ty::Bytes)),
            ],
            types::outcome(list(Ty::Str)),
            "(param i32)",
        );
        fixture.returns("describe", &plain_info("fixture-acceptance-v1"));
        fixture.returns("decide", &ok(Value::List(vec![])));
        fixture
    }

    /// A check that passes without a finding.
    pub(crate) fn check() -> Self {
        let mut fixture = Self::new("reread:check/checker@0.0.1");
        fixture.function("describe", vec![], types::plain_info(), "");
        fixture.function(
            "check",
            vec![
                ("criteria", list(Ty::Str)),
                ("artifact", Ty::Bytes),
                ("configuration", option(Ty::Bytes)),
            ],
            types::outcome(types::check_report()),
            "(param i32 i32 i32 i32 i32 i32 i32)",
        );
        fixture.returns("describe", &plain_info("fixture-check-v1"));
        let passes = Value::Fields(vec![Value::Case(0, None), Value::List(vec![])]);
        fixture.returns("check", &ok(passes));
        fixture
    }

    /// A pricing module for which everything costs the same.
    pub(crate) fn pricing() -> Self {
        let mut fixture = Self::new("reread:pricing/pricer@0.0.1");
        fixture.function("describe", vec![], types::plain_info(), "");
        fixture.function(
            "price",
            vec![("request", types::price_request()), ("table", Ty::Bytes)],
            types::outcome(types::cost()),
            "(param i32)",
        );
        fixture.returns("describe", &plain_info("fixture-pricing-v1"));
        let known = Value::Case(0, Some(Box::new(text("0.25"))));
        fixture.returns("price", &ok(Value::Fields(vec![known, text("USD")])));
        fixture
    }

    fn new(export: &str) -> Self {
        Self {
            export: export.to_owned(),
            functions: Vec::new(),
            memory: Memory::at(DATA_START),
            realloc: REALLOC.to_owned(),
            pages: 1,
            pages_max: None,
            core: String::new(),
            before: String::new(),
            after: String::new(),
            without: None,
        }
    }

    fn function(
        &mut self,
        name: &'static str,
        parameters: Vec<(&'static str, Ty)>,
        result: Ty,
        core: &'static str,
    ) {
        self.functions.push(Function {
            name,
            parameters,
            result,
            core,
            body: "unreachable".to_owned(),
            after: None,
        });
    }

    fn find(&mut self, name: &str) -> &mut Function {
        self.functions
            .iter_mut()
            .find(|function| function.name == name)
            .unwrap()
    }

    /// Makes a function return a fixed value.
    pub(crate) fn returns(&mut self, name: &str, value: &Value) {
        let ty = self.find(name).result.clone();
        let address = self.memory.place(&ty, value);
        self.find(name).body = format!("i32.const {address}");
    }

    /// Returns where the fixed result of a function stands.
    pub(crate) fn address_of(&mut self, name: &str) -> u32 {
        let body = &self.find(name).body;
        body.strip_prefix("i32.const ").unwrap().parse().unwrap()
    }

    /// Makes the allocator never return.
    pub(crate) fn spins_in_realloc(&mut self) {
        "(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32)
            (loop br 0) unreachable)"
            .clone_into(&mut self.realloc);
    }

    /// Makes the allocator return one address.
    pub(crate) fn allocates_at(&mut self, address: i32) {
        self.realloc = format!(
            "(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32)
            i32.const {address})"
        );
    }

    /// Makes a core function do something else.
    pub(crate) fn does(&mut self, name: &str, body: &str) {
        body.clone_into(&mut self.find(name).body);
    }

    /// Gives a function something to do once its result has been taken.
    pub(crate) fn does_after(&mut self, name: &str, body: &str) {
        self.find(name).after = Some(body.to_owned());
    }

    /// Gives a function another result type.
    pub(crate) fn retypes(&mut self, name: &str, result: Ty) {
        self.find(name).result = result;
    }

    /// Exports the instance under another name.
    pub(crate) fn exports_as(&mut self, name: &str) {
        name.clone_into(&mut self.export);
    }

    /// Starts with so many pages of memory.
    pub(crate) fn pages(&mut self, initial: u32, maximum: Option<u32>) {
        self.pages = initial;
        self.pages_max = maximum;
    }

    /// Returns the bytes of the component.
    pub(crate) fn build(&self) -> Vec<u8> {
        let text = self.wat();
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn core_module(&self) -> String {
        let mut out = String::from("(core module $m\n");
        let heap = self.memory.end().next_multiple_of(16);
        let pages = usize::try_from(self.pages).unwrap();
        let pages = pages.max(heap / 65_536 + 1);
        let maximum = self
            .pages_max
            .map_or(String::new(), |pages| pages.to_string());
        writeln!(out, "(memory (export \"memory\") {pages} {maximum})").unwrap();
        writeln!(out, "(global $heap (mut i32) (i32.const {heap}))").unwrap();
        out.push_str(&self.realloc);
        for function in &self.functions {
            let Function {
                name, core, body, ..
            } = function;
            writeln!(out, "(func (export \"{name}\") {core} (result i32) {body})").unwrap();
            if let Some(after) = &function.after {
                writeln!(out, "(func (export \"after-{name}\") (param i32) {after})").unwrap();
            }
        }
        writeln!(out, "{}", self.core).unwrap();
        write!(out, "(data (i32.const {DATA_START}) \"").unwrap();
        for byte in &self.memory.bytes {
            write!(out, "\\{byte:02x}").unwrap();
        }
        out.push_str("\"))\n");
        out
    }

    fn wat(&self) -> String {
        let mut named = Vec::new();
        for function in &self.functions {
            for (_, ty) in &function.parameters {
                ty.named(&mut named);
            }
            function.result.named(&mut named);
        }
        let mut out = format!("(component\n{}\n{}", self.before, self.core_module());
        out.push_str("(core instance $i (instantiate $m))\n");
        for ty in &named {
            let (used, defined) = (ty.used(""), ty.defined(""));
            writeln!(out, "(type {used} {defined})").unwrap();
        }
        for function in &self.functions {
            let Function { name, .. } = function;
            let signature = function.signature("");
            let after = function.after.as_ref().map_or(String::new(), |_| {
                format!("(post-return (core func $i \"after-{name}\"))")
            });
            writeln!(
                out,
                "(func ${name} {signature} (canon lift (core func $i \"{name}\") {OPTIONS} {after}))"
            )
            .unwrap();
        }
        out.push_str(&self.shim(&named));
        out.push_str("(instance $exported (instantiate $shim\n");
        for name in named.iter().filter_map(Ty::name) {
            writeln!(out, "(with \"type-{name}\" (type ${name}))").unwrap();
        }
        for Function { name, .. } in &self.functions {
            writeln!(out, "(with \"func-{name}\" (func ${name}))").unwrap();
        }
        write!(
            out,
            "))\n(export \"{}\" (instance $exported))\n{})",
            self.export, self.after
        )
        .unwrap();
        out
    }

    /// The component that gives the exported instance its named types.
    fn shim(&self, named: &[Ty]) -> String {
        let mut out = String::from("(component $shim\n");
        for ty in named {
            let (name, defined) = (ty.name().unwrap(), ty.defined("in-"));
            writeln!(out, "(type $def-{name} {defined})").unwrap();
            writeln!(
                out,
                "(import \"type-{name}\" (type $in-{name} (eq $def-{name})))"
            )
            .unwrap();
        }
        for function in &self.functions {
            let (name, signature) = (function.name, function.signature("in-"));
            writeln!(
                out,
                "(import \"func-{name}\" (func $in-{name}-f {signature}))"
            )
            .unwrap();
        }
        for ty in named {
            // An exported type stands on exported types.
            let (name, defined) = (ty.name().unwrap(), ty.defined("out-"));
            writeln!(out, "(type $again-{name} {defined})").unwrap();
            writeln!(out, "(export $out-{name} \"{name}\" (type $again-{name}))").unwrap();
        }
        for function in &self.functions {
            let (name, signature) = (function.name, function.signature("out-"));
            if self.without != Some(name) {
                writeln!(
                    out,
                    "(export \"{name}\" (func $in-{name}-f) (func {signature}))"
                )
                .unwrap();
            }
        }
        out.push_str(")\n");
        out
    }
}

impl Function {
    fn signature(&self, prefix: &str) -> String {
        let mut out = String::new();
        for (name, ty) in &self.parameters {
            write!(out, "(param \"{name}\" {}) ", ty.used(prefix)).unwrap();
        }
        write!(out, "(result {})", self.result.used(prefix)).unwrap();
        out
    }
}

/// How values cross the border of a fixture.
const OPTIONS: &str =
    r#"(memory (core memory $i "memory")) (realloc (core func $i "cabi_realloc"))"#;

/// Allocates upwards and never frees: an instance lives for one call.
const REALLOC: &str = r#"
(func (export "cabi_realloc") (param $old i32) (param $old-size i32) (param $align i32)
  (param $size i32) (result i32) (local $start i32) (local $end i32)
  (local.set $start (i32.and
    (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
    (i32.sub (i32.const 0) (local.get $align))))
  (local.set $end (i32.add (local.get $start) (local.get $size)))
  (global.set $heap (local.get $end))
  (if (i32.gt_u (local.get $end) (i32.mul (memory.size) (i32.const 65536)))
    (then (if (i32.eq (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.shr_u
      (i32.sub (local.get $end) (i32.mul (memory.size) (i32.const 65536))) (i32.const 16)))))
      (then unreachable))))
  (local.get $start))
"#;

pub(crate) fn ok(value: Value) -> Value {
    Value::Case(0, Some(Box::new(value)))
}

pub(crate) fn refused(code: &str, detail: &str) -> Value {
    let refusal = Value::Fields(vec![text(code), text(detail)]);
    Value::Case(1, Some(Box::new(refusal)))
}

pub(crate) fn interpreter_info(label: &str) -> Value {
    Value::Fields(vec![
        text(label),
        text("Reads nothing."),
        Value::List(vec![text("openai.chat")]),
        Value::U32(1),
        Value::List(vec![text("fixture-v0")]),
    ])
}

/// What a module says of itself in the worlds that have no vocabulary.
pub(crate) fn plain_info(label: &str) -> Value {
    Value::Fields(vec![
        text(label),
        text("Judges nothing."),
        Value::List(vec![text("fixture-v0")]),
    ])
}

/// Positions of the fields of a reading.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field {
    GenerationState,
    ProviderReason,
    ProviderReasonSource,
    Basis,
    OutputText,
    ToolCalls,
    Refusal,
    StructuredOutput,
    Usage,
    Model,
    ResponseId,
    Error,
    Choices,
    Facts,
    Citations,
}

impl Field {
    #[expect(clippy::as_conversions, reason = "a plain enumeration")]
    pub(crate) const fn position(self) -> usize {
        self as usize
    }
}

/// A reading with something in a few of its fields.
pub(crate) fn plain_reading() -> Value {
    let empty = || Value::List(vec![]);
    let no_usage = (0..6).map(|_| none()).chain([empty()]).collect();
    Value::Fields(vec![
        Value::Case(0, None),
        some(text("stop")),
        some(text("/choices/0/finish_reason")),
        Value::Fields(vec![text("body_signature"), text("chat_completion")]),
        some(text("hello")),
        empty(),
        none(),
        Value::Case(0, None),
        Value::Fields(no_usage),
        some(text("gpt-x")),
        none(),
        none(),
        empty(),
        empty(),
        empty(),
    ])
}

/// [`plain_reading`] with one field changed.
pub(crate) fn reading_with(field: Field, value: Value) -> Value {
    let Value::Fields(mut fields) = plain_reading() else {
        unreachable!("a reading has fields");
    };
    fields[field.position()] = value;
    Value::Fields(fields)
}
