"""Lists the contents of the image as CycloneDX 1.5: Debian's packages and Python's distributions, with their licences.

It runs inside the image that it describes, and needs only the standard library. The text does not depend on the time,
so equal contents give equal texts.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

DPKG_STATUS = Path("/var/lib/dpkg/status")
OS_RELEASE = Path("/etc/os-release")


def document(root: str, components: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole bill of materials of an image with the name `root`."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": root, "bom-ref": root}},
        "components": components,
        "dependencies": [{"ref": root, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def debian_packages(status: str, release: str) -> Iterator[dict[str, Any]]:
    """One component for each installed package.

    Args:
        status: The text of dpkg's status file (deb-control(5)).
        release: What follows `distro=` in package URLs, such as debian-12.
    """
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^(\S+): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
            encoded = version.replace("+", "%2B").replace(":", "%3A")
            url = f"pkg:deb/debian/{name.replace('+', '%2B')}@{encoded}?arch={architecture}&distro={release}"
            yield _component(name, version, url, [])


def python_distributions() -> Iterator[dict[str, Any]]:
    """One component for each distribution that this interpreter can import."""
    for distribution in metadata.distributions():
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        version = distribution.version
        yield _component(name, version, f"pkg:pypi/{name}@{version}", _licences(distribution.metadata.json))


def _licences(about: Mapping[str, Any]) -> list[str]:
    """The licences that the metadata name (PEP 566 as JSON). The whole text of a licence is not its name."""
    if expression := about.get("license_expression"):
        return [expression]
    names = [line.rpartition(" :: ")[2] for line in about.get("classifier", []) if line.startswith("License :: ")]
    licence = str(about.get("license", "")).strip()
    return names or [line for line in [licence] if line and "\n" not in line]


def _component(name: str, version: str, url: str, licences: list[str]) -> dict[str, Any]:
    component: dict[str, Any] = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    if licences:
        component["licenses"] = [{"license": {"name": licence}} for licence in licences]
    return component


def _release(text: str) -> str:
    fields: Mapping[str, str] = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    return f"{fields.get('ID', 'debian')}-{fields.get('VERSION_ID', '')}".rstrip("-")


def main() -> None:
    components = [*debian_packages(DPKG_STATUS.read_text(), _release(OS_RELEASE.read_text())), *python_distributions()]
    by_url = {component["bom-ref"]: component for component in components}
    bill = document("rewardline", [by_url[url] for url in sorted(by_url)])
    sys.stdout.write(json.dumps(bill, indent=1) + "\n")


if __name__ == "__main__":
    main()
