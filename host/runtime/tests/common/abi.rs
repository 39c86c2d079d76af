//! A small model of component types: one description gives both the text of a
//! type and the bytes of a value in linear memory.

use std::fmt::Write as _;

/// A component type.
#[derive(Debug, Clone)]
pub(crate) enum Ty {
    Bool,
    U16,
    U32,
    U64,
    Str,
    Bytes,
    List(Box<Self>),
    Tuple(Vec<Self>),
    Option(Box<Self>),
    Result(Box<Self>, Box<Self>),
    Record(&'static str, Vec<(&'static str, Self)>),
    Variant(&'static str, Vec<(&'static str, Option<Self>)>),
}

/// A value. It need not fit its type: pointers can be written as they are.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Bool(bool),
    U32(u32),
    U64(u64),
    Str(Vec<u8>),
    List(Vec<Self>),
    /// The same value as often as the count says, all of it shared.
    Repeated(Box<Self>, usize),
    Fields(Vec<Self>),
    Case(u8, Option<Box<Self>>),
    /// Pointer and length of a string or a list.
    Pointer(u32, u32),
}

pub(crate) fn text(value: &str) -> Value {
    Value::Str(value.as_bytes().to_vec())
}

pub(crate) fn none() -> Value {
    Value::Case(0, None)
}

pub(crate) fn some(value: Value) -> Value {
    Value::Case(1, Some(Box::new(value)))
}

pub(crate) fn option(ty: Ty) -> Ty {
    Ty::Option(Box::new(ty))
}

pub(crate) fn list(ty: Ty) -> Ty {
    Ty::List(Box::new(ty))
}

pub(crate) fn named_enum(name: &'static str, cases: &[&'static str]) -> Ty {
    Ty::Variant(name, cases.iter().map(|case| (*case, None)).collect())
}

impl Ty {
    fn cases(&self) -> Option<Vec<Option<Self>>> {
        match self {
            Self::Option(some) => Some(vec![None, Some((**some).clone())]),
            Self::Result(ok, err) => Some(vec![Some((**ok).clone()), Some((**err).clone())]),
            Self::Variant(_, cases) => Some(cases.iter().map(|(_, ty)| ty.clone()).collect()),
            _ => None,
        }
    }

    fn members(&self) -> Option<Vec<Self>> {
        match self {
            Self::Tuple(members) => Some(members.clone()),
            Self::Record(_, fields) => Some(fields.iter().map(|(_, ty)| ty.clone()).collect()),
            _ => None,
        }
    }

    pub(crate) fn align(&self) -> usize {
        if let Some(cases) = self.cases() {
            return cases.iter().flatten().map(Self::align).max().unwrap_or(1);
        }
        if let Some(members) = self.members() {
            return members.iter().map(Self::align).max().unwrap_or(1);
        }
        match self {
            Self::Bool => 1,
            Self::U16 => 2,
            Self::U64 => 8,
            _ => 4,
        }
    }

    pub(crate) fn size(&self) -> usize {
        if let Some(cases) = self.cases() {
            let payload = cases.iter().flatten().map(Self::size).max().unwrap_or(0);
            return (self.payload_offset() + payload).next_multiple_of(self.align());
        }
        if let Some(members) = self.members() {
            let end = members.iter().fold(0, |end: usize, member| {
                end.next_multiple_of(member.align()) + member.size()
            });
            return end.next_multiple_of(self.align());
        }
        match self {
            Self::Bool => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            _ => 8,
        }
    }

    fn payload_offset(&self) -> usize {
        1_usize.next_multiple_of(self.align())
    }

    /// The type where it is used; named types by their identifier.
    pub(crate) fn used(&self, prefix: &str) -> String {
        match self {
            Self::Bool => "bool".into(),
            Self::U16 => "u16".into(),
            Self::U32 => "u32".into(),
            Self::U64 => "u64".into(),
            Self::Str => "string".into(),
            Self::Bytes => "(list u8)".into(),
            Self::List(item) => format!("(list {})", item.used(prefix)),
            Self::Tuple(members) => {
                let members: Vec<_> = members.iter().map(|ty| ty.used(prefix)).collect();
                format!("(tuple {})", members.join(" "))
            }
            Self::Option(some) => format!("(option {})", some.used(prefix)),
            Self::Result(ok, err) => {
                format!("(result {} (error {}))", ok.used(prefix), err.used(prefix))
            }
            Self::Record(name, _) | Self::Variant(name, _) => format!("${prefix}{name}"),
        }
    }

    /// The definition of a named type.
    pub(crate) fn defined(&self, prefix: &str) -> String {
        let mut out = String::new();
        match self {
            Self::Record(_, fields) => {
                out.push_str("(record");
                for (name, ty) in fields {
                    write!(out, " (field \"{name}\" {})", ty.used(prefix)).unwrap();
                }
            }
            Self::Variant(_, cases) if cases.iter().all(|(_, ty)| ty.is_none()) => {
                out.push_str("(enum");
                for (name, _) in cases {
                    write!(out, " \"{name}\"").unwrap();
                }
            }
            Self::Variant(_, cases) => {
                out.push_str("(variant");
                for (name, ty) in cases {
                    match ty {
                        Some(ty) => write!(out, " (case \"{name}\" {})", ty.used(prefix)),
                        None => write!(out, " (case \"{name}\")"),
                    }
                    .unwrap();
                }
            }
            other => panic!("{other:?} has no definition"),
        }
        out.push(')');
        out
    }

    /// Every named type in it, each before those that use it.
    pub(crate) fn named(&self, found: &mut Vec<Self>) {
        for part in self.cases().into_iter().flatten().flatten() {
            part.named(found);
        }
        for part in self.members().into_iter().flatten() {
            part.named(found);
        }
        if let Self::List(item) = self {
            item.named(found);
        }
        if let Some(name) = self.name()
            && !found.iter().any(|ty| ty.name() == Some(name))
        {
            found.push(self.clone());
        }
    }

    pub(crate) fn name(&self) -> Option<&'static str> {
        match self {
            Self::Record(name, _) | Self::Variant(name, _) => Some(name),
            _ => None,
        }
    }
}

/// The start of a linear memory.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    base: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Memory {
    pub(crate) fn at(base: usize) -> Self {
        Self {
            base,
            bytes: Vec::new(),
        }
    }

    pub(crate) fn end(&self) -> usize {
        self.base + self.bytes.len()
    }

    fn reserve(&mut self, size: usize, align: usize) -> usize {
        let start = self.end().next_multiple_of(align);
        self.bytes.resize(start + size - self.base, 0);
        start
    }

    /// Writes a value and returns its address.
    pub(crate) fn place(&mut self, ty: &Ty, value: &Value) -> usize {
        let address = self.reserve(ty.size(), ty.align());
        self.store(address, ty, value);
        address
    }

    fn put(&mut self, address: usize, bytes: &[u8]) {
        let start = address - self.base;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn pair(&mut self, address: usize, pointer: usize, length: usize) {
        self.put(address, &u32::try_from(pointer).unwrap().to_le_bytes());
        self.put(address + 4, &u32::try_from(length).unwrap().to_le_bytes());
    }

    fn store(&mut self, address: usize, ty: &Ty, value: &Value) {
        match (ty, value) {
            (_, Value::Bool(value)) => self.put(address, &[u8::from(*value)]),
            (_, Value::U32(value)) => self.put(address, &value.to_le_bytes()),
            (_, Value::U64(value)) => self.put(address, &value.to_le_bytes()),
            (_, Value::Pointer(pointer, length)) => {
                self.put(address, &pointer.to_le_bytes());
                self.put(address + 4, &length.to_le_bytes());
            }
            (_, Value::Str(bytes)) => {
                let start = self.reserve(bytes.len(), 1);
                self.put(start, bytes);
                self.pair(address, start, bytes.len());
            }
            (Ty::List(item), Value::List(values)) => {
                let start = self.reserve(item.size() * values.len(), item.align());
                for (index, value) in values.iter().enumerate() {
                    self.store(start + index * item.size(), item, value);
                }
                self.pair(address, start, values.len());
            }
            (Ty::List(item), Value::Repeated(value, count)) => {
                let size = item.size();
                let start = self.reserve(size * count, item.align());
                self.store(start, item, value);
                let first = self.bytes[start - self.base..][..size].to_vec();
                for index in 1..*count {
                    self.put(start + index * size, &first);
                }
                self.pair(address, start, *count);
            }
            (_, Value::Fields(values)) => {
                let mut end = address;
                for (member, value) in ty.members().unwrap().iter().zip(values) {
                    let start = end.next_multiple_of(member.align());
                    self.store(start, member, value);
                    end = start + member.size();
                }
            }
            (_, Value::Case(case, payload)) => {
                self.put(address, &[*case]);
                if let Some(payload) = payload {
                    let member = ty.cases().unwrap()[usize::from(*case)].clone().unwrap();
                    self.store(address + ty.payload_offset(), &member, payload);
                }
            }
            (ty, value) => panic!("{value:?} is not a {ty:?}"),
        }
    }
}
