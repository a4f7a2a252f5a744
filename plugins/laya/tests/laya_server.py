"""The ``laya`` package's real HTTP server around a stand-in for its router of models."""

from typing import Any

import uvicorn
from laya.serve import create_app


class StandIn:
    """Prefers the first label, and says that it cut states of more than 100 characters."""

    loaded = ("english",)

    def predict(self, state: object, questions: dict[str, Any], **_: object) -> dict[str, Any]:
        cut = [name for name in questions if len(str(state)) > 100]
        usage = {"input_tokens": 9, "output_tokens": 0, "truncated": bool(cut)}
        return {
            "model": "laya-rl-agent",
            "answers": {name: _answer(question) for name, question in questions.items()},
            "usage": {**usage, "truncated_questions": cut},
        }


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    labels = list(question["criteria"])
    rest = 0.1 / (len(labels) - 1)
    probabilities = dict.fromkeys(labels[1:], rest)
    return {
        "type": "choice",
        "choice": labels[0],
        "probabilities": {labels[0]: 0.9, **probabilities},
        "confidence": 0.53,
        "answer_confidence": 0.9,
        "action": {"act_probability": 1.0},
    }


if __name__ == "__main__":
    uvicorn.run(create_app(router=StandIn()), host="127.0.0.1", port=0)
