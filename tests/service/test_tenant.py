"""The names under which things are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairness import DEFAULT, TENANT
from service.tenant import FORM, owned, parted

tenants = st.from_regex(FORM, fullmatch=True)
names = st.text(st.characters(blacklist_characters="/"), min_size=1)


@given(tenants, names)
def test_a_kept_name_tells_its_owner_and_its_name(tenant: str, name: str) -> None:
    TENANT.set(tenant)
    assert parted(owned(name)) == (tenant, name)
    assert (owned(name) == name) == (tenant == DEFAULT)


@pytest.mark.parametrize(("one", "other"), [(("a", "b"), ("a%2Fb", "b")), (("a/b", "c"), ("a", "b/c"))])
def test_no_tenant_writes_the_name_of_another(one: tuple[str, str], other: tuple[str, str]) -> None:
    made = []
    for tenant, name in (one, other):
        TENANT.set(tenant)
        made.append(owned(name))
    assert made[0] != made[1]
    TENANT.set(DEFAULT)
