//! Requests, read whole.

use std::io::Read;

use crate::Outcome;

const HEAD_BYTES_MAX: usize = 1 << 20;

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    /// In the order of the wire, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Without its transfer coding.
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads requests one after the other.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    unread: Vec<u8>,
}

impl Inbox {
    /// Reads a request; none when the client closed the connection before one.
    pub(crate) fn next(&mut self, stream: &mut impl Read) -> Outcome<Option<Request>> {
        let Some(head) = self.head(stream)? else {
            return Ok(None);
        };
        let mut request = parse(&head)?;
        request.body = if request.header("transfer-encoding").is_some() {
            self.chunks(stream)?
        } else {
            let length = request.header("content-length").unwrap_or("0").parse()?;
            self.take(stream, length)?
        };
        Ok(Some(request))
    }

    fn head(&mut self, stream: &mut impl Read) -> Outcome<Option<Vec<u8>>> {
        loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                let head = self.unread.drain(..end).collect();
                self.unread.drain(..4);
                return Ok(Some(head));
            }
            // What is no text is no request: somebody may speak TLS to a plain port.
            if !self.unread.is_ascii() || self.unread.len() > HEAD_BYTES_MAX {
                return Err("the head of a request was not understood".into());
            }
            if self.fill(stream)? == 0 {
                return match self.unread.len() {
                    0 => Ok(None),
                    _ => Err("a request broke off in its head".into()),
                };
            }
        }
    }

    fn take(&mut self, stream: &mut impl Read, length: usize) -> Outcome<Vec<u8>> {
        while self.unread.len() < length {
            if self.fill(stream)? == 0 {
                return Err("a request broke off in its body".into());
            }
        }
        Ok(self.unread.drain(..length).collect())
    }

    fn line(&mut self, stream: &mut impl Read) -> Outcome<String> {
        loop {
            if let Some(end) = find(&self.unread, b"\r\n") {
                let line = self.take(stream, end)?;
                self.unread.drain(..2);
                return Ok(String::from_utf8(line)?);
            }
            if self.fill(stream)? == 0 {
                return Err("a request broke off between its chunks".into());
            }
        }
    }

    fn chunks(&mut self, stream: &mut impl Read) -> Outcome<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line(stream)?;
            let size = line.split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size.trim(), 16)?;
            if size == 0 {
                while !self.line(stream)?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.take(stream, size)?);
            self.line(stream)?;
        }
    }

    fn fill(&mut self, stream: &mut impl Read) -> Outcome<usize> {
        let mut buffer = [0; 1 << 14];
        let count = stream.read(&mut buffer)?;
        self.unread.extend(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn parse(head: &[u8]) -> Outcome<Request> {
    let head = std::str::from_utf8(head)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let mut word = || words.next().map(str::to_owned).ok_or("no request line");
    let (method, target) = (word()?, word()?);
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(':').ok_or("a header without a colon")?;
        Ok((name.to_lowercase(), value.trim().to_owned()))
    });
    Ok(Request {
        method,
        target,
        headers: headers.collect::<Outcome<_>>()?,
        body: Vec::new(),
    })
}
