//! The walk over all sections of a component: each is counted before the
//! validator keeps anything of it.

use wasmparser::{
    ComponentExternalKind, KnownCustom, MemoryType, Parser, Payload, ValidPayload, Validator,
};

use super::count::{
    COMPONENTS, CORE_MODULES, Counts, DEPTH, FUNCTIONS, INSTANCES, ITEMS, TYPE_BYTES,
};
use super::function::Functions;
use super::{ModuleError, bounds, size};
use crate::profile::{self, Limits};

/// Bytes of one page of linear memory.
const PAGE_BYTES: u64 = 64 << 10;

/// What the outermost component exports.
pub(super) struct Export {
    pub(super) name: String,
    pub(super) kind: ComponentExternalKind,
}

/// What the walk found.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) imports: Vec<String>,
    pub(super) exports: Vec<Export>,
    pub(super) counts: Counts,
    pub(super) producers: Vec<(String, String, String)>,
}

/// Validates a component and counts all that is in it.
pub(super) fn walk(component: &[u8], limits: &Limits) -> Result<Walked, ModuleError> {
    let mut walked = Walked::default();
    let mut functions = Functions::default();
    let mut validator = Validator::new_with_features(profile::FEATURES);
    let mut parser = Parser::new(0);
    parser.set_features(profile::FEATURES);
    let mut depth = 0;
    for payload in parser.parse_all(component) {
        let payload = payload.map_err(|error| ModuleError::invalid(&error))?;
        walked.count(&payload, &mut depth)?;
        let valid = validator
            .payload(&payload)
            .map_err(|error| ModuleError::invalid(&error))?;
        // Read again only now that the section is known to be valid.
        if depth == 1 {
            walked.names(&payload)?;
        }
        initial_sizes(&payload, limits)?;
        if let ValidPayload::Func(function, body) = valid {
            functions.validate(function, &body, &mut walked.counts)?;
        }
    }
    Ok(walked)
}

impl Walked {
    fn count(&mut self, payload: &Payload<'_>, depth: &mut u64) -> Result<(), ModuleError> {
        let counts = &mut self.counts;
        let mut items = |count: u32| counts.add(&ITEMS, u64::from(count));
        match payload {
            Payload::Version { .. } => {
                *depth += 1;
                counts.raise(&DEPTH, *depth)
            }
            Payload::End(_) => {
                *depth = depth.saturating_sub(1);
                Ok(())
            }
            Payload::ModuleSection { .. } => counts.add(&CORE_MODULES, 1),
            Payload::ComponentSection { .. } => counts.add(&COMPONENTS, 1),
            Payload::FunctionSection(section) => counts.add(&FUNCTIONS, u64::from(section.count())),
            Payload::InstanceSection(section) => counts.add(&INSTANCES, u64::from(section.count())),
            Payload::ComponentInstanceSection(section) => {
                counts.add(&INSTANCES, u64::from(section.count()))
            }
            Payload::CoreTypeSection(section) => {
                items(section.count())?;
                counts.add(&TYPE_BYTES, size(section.range().len()))
            }
            Payload::ComponentTypeSection(section) => {
                items(section.count())?;
                counts.add(&TYPE_BYTES, size(section.range().len()))
            }
            Payload::TypeSection(section) => items(section.count()),
            Payload::ImportSection(section) => items(section.count()),
            Payload::TableSection(section) => items(section.count()),
            Payload::MemorySection(section) => items(section.count()),
            Payload::TagSection(section) => items(section.count()),
            Payload::GlobalSection(section) => items(section.count()),
            Payload::ExportSection(section) => items(section.count()),
            Payload::ElementSection(section) => items(section.count()),
            Payload::DataSection(section) => items(section.count()),
            Payload::ComponentAliasSection(section) => items(section.count()),
            Payload::ComponentCanonicalSection(section) => items(section.count()),
            Payload::ComponentImportSection(section) => items(section.count()),
            Payload::ComponentExportSection(section) => items(section.count()),
            Payload::CustomSection(_) => items(1),
            // Code is counted function by function; the validator refuses what
            // is left.
            Payload::StartSection { .. }
            | Payload::DataCountSection { .. }
            | Payload::CodeSectionStart { .. }
            | Payload::CodeSectionEntry(_)
            | Payload::ComponentStartSection { .. }
            | Payload::UnknownSection { .. }
            | _ => Ok(()),
        }
    }

    /// Notes what the outermost component imports and exports.
    fn names(&mut self, payload: &Payload<'_>) -> Result<(), ModuleError> {
        let invalid = |error: wasmparser::Error| ModuleError::invalid(&error);
        if let Payload::ComponentImportSection(section) = payload {
            for import in section.clone() {
                self.imports
                    .push(import.map_err(invalid)?.name.name.to_owned());
            }
        }
        if let Payload::ComponentExportSection(section) = payload {
            for export in section.clone() {
                let export = export.map_err(invalid)?;
                self.exports.push(Export {
                    name: export.name.name.to_owned(),
                    kind: export.kind,
                });
            }
        }
        if let Payload::CustomSection(section) = payload
            && let KnownCustom::Producers(fields) = section.as_known()
        {
            self.producers(fields);
        }
        Ok(())
    }

    /// Notes what the component says it was made with. A section that cannot be
    /// read says nothing.
    fn producers(&mut self, fields: wasmparser::ProducersSectionReader<'_>) {
        for field in fields.into_iter().flatten() {
            for value in field.values.into_iter().flatten() {
                if self.producers.len() < bounds::PRODUCERS_MAX {
                    let shown = |text: &str| crate::error::Shown(text).to_string();
                    self.producers.push((
                        shown(field.name),
                        shown(value.name),
                        shown(value.version),
                    ));
                }
            }
        }
    }
}

/// Refuses memories and tables that could never be instantiated.
fn initial_sizes(payload: &Payload<'_>, limits: &Limits) -> Result<(), ModuleError> {
    let invalid = |error: wasmparser::Error| ModuleError::invalid(&error);
    if let Payload::MemorySection(section) = payload {
        for memory in section.clone() {
            let MemoryType { initial, .. } = memory.map_err(invalid)?;
            within(
                "bytes of initial memory",
                initial.saturating_mul(PAGE_BYTES),
                size(limits.memory_bytes),
            )?;
        }
    }
    if let Payload::TableSection(section) = payload {
        for table in section.clone() {
            let initial = table.map_err(invalid)?.ty.initial;
            within(
                "elements in an initial table",
                initial,
                size(limits.table_elements),
            )?;
        }
    }
    Ok(())
}

fn within(what: &'static str, found: u64, limit: u64) -> Result<(), ModuleError> {
    if found <= limit {
        return Ok(());
    }
    Err(ModuleError::Bound { what, found, limit })
}
