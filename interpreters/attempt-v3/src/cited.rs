//! The citations of a reading.

use alloc::format;
use alloc::vec::Vec;

use wire::json::{Cite, Cited};
use wire::transcript::{Call, Text};
use wire::usage::Usage;

use crate::reading::Citation;

/// Citations in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Citations {
    pub(crate) made: Vec<Citation>,
    /// Whether a text has more pieces than are cited.
    pub(crate) cut: bool,
}

impl Citations {
    pub(crate) fn add(&mut self, field: &str, cite: &Cite) {
        self.made.push(Citation {
            field: field.into(),
            pointer: cite.pointer.clone(),
            start: cite.span.start,
            end: cite.span.end,
        });
    }

    pub(crate) fn value(&mut self, field: &'static str, value: Option<&Cited<'_>>) {
        if let Some(value) = value {
            self.add(field, &value.cite);
        }
    }

    pub(crate) fn text(&mut self, field: &str, text: &Text<'_>) {
        self.cut |= text.pieces_cut;
        for piece in &text.pieces {
            self.add(field, piece);
        }
    }

    pub(crate) fn call(&mut self, index: usize, call: &Call<'_>) {
        let field = |member| format!("tool_calls.{index}.{member}");
        if let Some(id) = &call.id {
            self.add(&field("id"), &id.cite);
        }
        if let Some(name) = &call.name {
            self.add(&field("name"), &name.cite);
        }
        self.text(&field("arguments"), &call.arguments);
    }

    pub(crate) fn usage(&mut self, usage: &Usage) {
        let components = [
            ("usage.input", &usage.input),
            ("usage.output", &usage.output),
            ("usage.cached_input", &usage.cached_input),
            ("usage.cache_write", &usage.cache_write),
            ("usage.reasoning", &usage.reasoning),
            ("usage.total", &usage.total),
        ];
        for (field, component) in components {
            for cite in &component.cites {
                self.add(field, cite);
            }
        }
    }
}
