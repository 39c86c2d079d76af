//! Passing over values without building anything.

use super::{Fault, Kind, Reader, Result, Span};

impl Reader<'_> {
    /// Passes over any value and returns where it stands.
    #[inline(never)]
    pub fn skip(&mut self) -> Result<Span> {
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            Kind::Object => self.skip_object()?,
            Kind::Array => self.skip_array()?,
            Kind::Text => self.skip_text()?,
            Kind::Number => self.number()?,
            Kind::True => self.literal(b"true")?,
            Kind::False => self.literal(b"false")?,
            Kind::Null => self.literal(b"null")?,
        }
        Ok(Span {
            start,
            end: self.at,
        })
    }

    #[inline(never)]
    fn skip_object(&mut self) -> Result<()> {
        self.open(b'{')?;
        if !self.take(b'}') {
            loop {
                self.skip_text()?;
                self.expect(b':')?;
                self.skip()?;
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.depth -= 1;
        Ok(())
    }

    #[inline(never)]
    fn skip_array(&mut self) -> Result<()> {
        self.open(b'[')?;
        if !self.take(b']') {
            loop {
                self.skip()?;
                if !self.take(b',') {
                    break;
                }
            }
            self.expect(b']')?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<()> {
        let rest = self.rest();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        if word.starts_with(rest) {
            return Err(Fault::Ended);
        }
        Err(Fault::Syntax)
    }

    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<()> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'N') => return self.without_value(b"NaN"),
            Some(b'I') => return self.without_value(b"Infinity"),
            Some(b'0') => self.at += 1,
            Some(_) | None => self.digits()?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn without_value(&mut self, word: &[u8]) -> Result<()> {
        self.notes.non_finite += 1;
        self.literal(word)
    }

    fn digits(&mut self) -> Result<()> {
        let digits = self.rest();
        let length = digits
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(digits.len());
        if length == 0 {
            return Err(if digits.is_empty() {
                Fault::Ended
            } else {
                Fault::Syntax
            });
        }
        self.at += length;
        Ok(())
    }
}
