"""A reconciliation client: forms to an address that holds the token, every answer checked against the specification."""

from __future__ import annotations

import json
from typing import Any

import httpx
from reconcile_schemas import EXTENSION, EXTENSION_QUERY, MANIFEST, PROPOSAL, QUERIES, RESULTS, SUGGESTED, check


class ReconcileClient:
    """What OpenRefine sends, and `send` for all else."""

    def __init__(self, url: str, token: str) -> None:
        self.address = f"{url}/reconcile/{token}"
        self._client = httpx.Client(trust_env=False, timeout=30)

    def send(self, method: str = "POST", path: str = "", **more: Any) -> httpx.Response:
        return self._client.request(method, self.address + path, **more)

    def manifest(self) -> Any:
        return check(self._told(self.send("GET")), MANIFEST)

    def properties(self, **parameters: Any) -> Any:
        return check(self._told(self.send("GET", "/properties", params=parameters)), PROPOSAL)

    def suggested(self, **parameters: Any) -> Any:
        """Names of columns, and what is said of each."""
        told = check(self._told(self.send("GET", "/columns", params=parameters)), SUGGESTED)["result"]
        assert all(one["id"] == one["name"] for one in told)
        return {one["id"]: one["description"] for one in told}

    def queries(self, **queries: Any) -> Any:
        told = check(self._told(self.send(data={"queries": json.dumps(check(queries, QUERIES))})), RESULTS)
        assert list(told) == list(queries)
        return {key: told[key]["result"] for key in told}

    def extend(self, ids: list[str], *properties: Any) -> Any:
        """What each row is told of each property: a text, or None."""
        sent = check({"ids": ids, "properties": list(properties)}, EXTENSION_QUERY)
        told = check(self._told(self.send(data={"extend": json.dumps(sent)})), EXTENSION)
        assert [one["id"] for one in told["meta"]] == [one["id"] for one in properties]
        assert list(told["rows"]) == list(dict.fromkeys(ids))
        return {
            id_: {name: cell[0].get("str") for name, cell in row.items() if len(cell) == 1}
            for id_, row in told["rows"].items()
        }

    def close(self) -> None:
        self._client.close()

    def _told(self, response: httpx.Response) -> Any:
        assert response.status_code == 200, response.text
        return response.json()


def paid(attribute: str, ceiling: str = "10", level: str = "finest") -> dict[str, Any]:
    """A property that is to be bought, as OpenRefine sends its settings: all of them texts."""
    return {"id": attribute, "settings": {"level": level, "pay": "on", "ceiling": ceiling}}
