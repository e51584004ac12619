"""The local web application: type a text, move the attention, watch the answer; look through audits; read the papers."""
