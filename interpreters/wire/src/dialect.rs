//! The wire dialects.

/// A way in which providers write responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `POST /v1/chat/completions`, of many servers.
    OpenaiChat,
    /// `POST /v1/responses`.
    OpenaiResponses,
    /// `POST /v1/completions`.
    OpenaiCompletions,
    /// `POST /v1/messages`.
    AnthropicMessages,
    /// `POST /v1/complete`.
    AnthropicComplete,
    /// `:generateContent` and `:streamGenerateContent`.
    GeminiGenerateContent,
    /// `/converse` and `/converse-stream`.
    BedrockConverse,
    /// `/invoke` and `/invoke-with-response-stream`: whatever the model's maker
    /// sends, so the shape is read from the bytes.
    BedrockInvoke,
    /// `POST /v1/chat/completions`, as Mistral has it.
    MistralChat,
    /// `POST /v1/chat` and `/v1/generate` of Cohere.
    CohereV1Chat,
    /// `POST /v2/chat` of Cohere.
    CohereV2Chat,
    /// `POST /api/chat`.
    OllamaChat,
    /// `POST /api/generate`.
    OllamaGenerate,
}

impl Dialect {
    /// Every dialect, in the order of their names' table.
    pub const ALL: [Self; 13] = [
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::OpenaiCompletions,
        Self::AnthropicMessages,
        Self::AnthropicComplete,
        Self::GeminiGenerateContent,
        Self::BedrockConverse,
        Self::BedrockInvoke,
        Self::MistralChat,
        Self::CohereV1Chat,
        Self::CohereV2Chat,
        Self::OllamaChat,
        Self::OllamaGenerate,
    ];

    /// Returns the name that is recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai.chat",
            Self::OpenaiResponses => "openai.responses",
            Self::OpenaiCompletions => "openai.completions",
            Self::AnthropicMessages => "anthropic.messages",
            Self::AnthropicComplete => "anthropic.complete",
            Self::GeminiGenerateContent => "gemini.generate_content",
            Self::BedrockConverse => "bedrock.converse",
            Self::BedrockInvoke => "bedrock.invoke",
            Self::MistralChat => "mistral.chat",
            Self::CohereV1Chat => "cohere.v1.chat",
            Self::CohereV2Chat => "cohere.v2.chat",
            Self::OllamaChat => "ollama.chat",
            Self::OllamaGenerate => "ollama.generate",
        }
    }

    /// Returns the dialect of a name. Three have an older name besides.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "chat_completions" => Some(Self::OpenaiChat),
            "responses" => Some(Self::OpenaiResponses),
            "messages" => Some(Self::AnthropicMessages),
            _ => Self::ALL
                .into_iter()
                .find(|dialect| dialect.as_str() == name),
        }
    }
}
