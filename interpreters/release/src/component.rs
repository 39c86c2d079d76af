//! Makes a component of a core module, and checks that it needs nothing.

use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

/// A world that a component is for.
#[derive(Clone, Copy)]
pub(crate) enum World {
    Interpreter,
    Policy,
    Acceptance,
    Check,
    Pricing,
}

impl World {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Interpreter => "interpreter",
            Self::Policy => "policy",
            Self::Acceptance => "acceptance",
            Self::Check => "check",
            Self::Pricing => "pricing",
        }
    }

    const fn export(self) -> &'static str {
        match self {
            Self::Interpreter => "reread:interpreter/reader@0.0.1",
            Self::Policy => "reread:policy/decider@0.0.1",
            Self::Acceptance => "reread:acceptance/judge@0.0.1",
            Self::Check => "reread:check/checker@0.0.1",
            Self::Pricing => "reread:pricing/pricer@0.0.1",
        }
    }
}

/// Returns the component, validated.
pub(crate) fn of_module(label: &str, module: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true);
    encoder
        .module(module)
        .and_then(ComponentEncoder::encode)
        .map_err(|error| format!("{label}: {error:#}"))
}

/// Checks that the component imports nothing and exports its interface only.
pub(crate) fn check_world(label: &str, world: World, component: &[u8]) -> Result<(), String> {
    let failed = |error| format!("{label}: {error}");
    let mut exports = Vec::new();
    // Inside of the component, at depth 2, are its core module and a component
    // that only names the types of the export.
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.map_err(failed)?;
        if let Payload::Version { .. } = payload {
            depth += 1;
        } else if let Payload::End(_) = payload {
            depth -= 1;
        } else if let Payload::ImportSection(section) = &payload
            && section.count() > 0
        {
            return Err(format!("{label}: a core module has imports"));
        } else if let Payload::ComponentImportSection(section) = &payload
            && depth == 1
            && section.count() > 0
        {
            return Err(format!("{label}: the component has imports"));
        } else if let Payload::ComponentExportSection(section) = payload
            && depth == 1
        {
            for export in section {
                exports.push(export.map_err(failed)?.name.name.to_owned());
            }
        }
    }
    if exports == [world.export()] {
        return Ok(());
    }
    Err(format!(
        "{label}: expected the one export {}, found {exports:?}",
        world.export()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that every component starts with.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    /// An import section of one instance that exports nothing, named `x`, after
    /// the type section that it needs.
    const IMPORTING: &[u8] = b"\0asm\x0d\0\x01\0\x07\x03\x01\x42\0\x0a\x06\x01\0\x01x\x05\0";

    #[test]
    fn a_component_without_the_export_is_refused() {
        let expected = "a-v1: expected the one export reread:policy/decider@0.0.1, found []";
        let refused = check_world("a-v1", World::Policy, EMPTY);
        assert_eq!(refused, Err(expected.to_owned()));
    }

    #[test]
    fn a_component_with_an_import_is_refused() {
        let refused = check_world("a-v1", World::Interpreter, IMPORTING);
        assert_eq!(refused, Err("a-v1: the component has imports".to_owned()));
    }

    #[test]
    fn bytes_that_are_no_module_are_refused_with_the_label() {
        let refused = of_module("a-v1", b"no module").unwrap_err();
        assert!(refused.starts_with("a-v1: "), "{refused}");
    }
}
