"""What a program appends its values with, one text per language: a value becomes a line that two processes write alike.

    values of the language ──► JSON with sorted keys, one value a line ──► `FILE` in the working directory

Numbers are written by their value, whatever their type. What JSON lacks is an object with the key `$`. Bash has only
texts, each with a zero byte behind it. A program may write what it likes there: these are its answers, not its verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

FILE: Final = "rewardline.values"


@dataclass(frozen=True, slots=True)
class Teller:
    """How a language tells values."""

    call: str
    """With `{}` for the expression."""
    program: str
    """A program of `statements` alone, with `head` for imports."""
    before: str = ""
    """Definitions that stand before all other text."""
    behind: str = ""
    """Definitions that stand behind all other text."""
    separator: bytes = b"\n"


_JAVASCRIPT: Final = r"""
function rewardlineImage(v) {
  if (v === null || v === undefined) return 'null';
  if (typeof v === 'number') return Number.isFinite(v) ? String(v === 0 ? 0 : v) : '{"$":"' + v + '"}';
  if (typeof v === 'string') return JSON.stringify(v);
  if (typeof v === 'boolean') return String(v);
  if (typeof v === 'bigint') return '{"$":"' + v + '"}';
  if (typeof v !== 'object') return '{"$":"' + typeof v + '"}';
  if (Array.isArray(v) || ArrayBuffer.isView(v)) return '[' + Array.from(v, rewardlineImage).join(',') + ']';
  if (v instanceof Set) return '{"$":"set","of":[' + Array.from(v, rewardlineImage).sort().join(',') + ']}';
  if (v instanceof Map) return '{"$":"map","of":[' + Array.from(v, rewardlineImage).sort().join(',') + ']}';
  if (v instanceof Date || v instanceof RegExp || v instanceof Error) return '{"$":' + JSON.stringify(String(v)) + '}';
  return '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + rewardlineImage(v[k])).join(',') + '}';
}
function rewardlineTell(v) { require('fs').appendFileSync('VALUES', rewardlineImage(v) + '\n'); }
"""

_PERL: Final = r"""
sub rewardline_text {
    my $text = "$_[0]";
    $text =~ s/([\\"])/\\$1/g;
    $text =~ s/([\x00-\x1f])/sprintf("\\u%04x", ord($1))/ge;
    return qq("$text");
}
sub rewardline_image {
    my ($v) = @_;
    return "null" unless defined $v;
    my $kind = ref($v);
    return rewardline_text($v) if $kind eq "";
    return "[" . join(",", map { rewardline_image($_) } @$v) . "]" if $kind eq "ARRAY";
    return "{" . join(",", map { rewardline_text($_) . ":" . rewardline_image($v->{$_}) } sort keys %$v) . "}" if $kind eq "HASH";
    return '{"$":"ref","of":' . rewardline_image($$v) . "}" if $kind eq "SCALAR" || $kind eq "REF";
    return '{"$":' . rewardline_text($kind) . "}";
}
sub rewardline_tell {
    open(my $file, ">>", "VALUES") or die;
    print $file @_ > 1 ? '{"$":"list"}' : rewardline_image($_[0]), "\n";
    close($file);
}
"""

_BASH: Final = r"""
rewardline_file=$PWD/VALUES
rewardline_tell() { printf '%s\0' "$1" >> "$rewardline_file"; }
"""

_CPP: Final = r"""
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
namespace rewardline {
inline std::string text(const std::string& s) {
    std::string out = "\"";
    for (unsigned char c : s) {
        char hex[8];
        if (c == '"' || c == '\\') (out += '\\') += (char)c;
        else if (c < 32) std::snprintf(hex, sizeof hex, "\\u%04x", c), out += hex;
        else out += (char)c;
    }
    return out + "\"";
}
inline std::string number(long double n) {
    if (!std::isfinite(n)) return std::string("{\"$\":\"") + (n != n ? "nan" : n > 0 ? "inf" : "-inf") + "\"}";
    char out[64];
    std::snprintf(out, sizeof out, "%.21Lg", n == 0 ? 0 : n);
    return out;
}
template <class T> std::string image(const T& v);
template <class T, std::size_t... N> std::string fields(const T& v, std::index_sequence<N...>) {
    std::string out = "[";
    ((out += (N ? "," : "") + image(std::get<N>(v))), ...);
    return out + "]";
}
template <class T> std::string image(const T& v) {
    if constexpr (std::is_same_v<T, bool>) return v ? "1" : "0";
    else if constexpr (std::is_enum_v<T>) return number((long double)(long long)v);
    else if constexpr (std::is_arithmetic_v<T>) return number((long double)v);
    else if constexpr (std::is_null_pointer_v<T>) return "null";
    else if constexpr (std::is_convertible_v<const T&, std::string>) return text(std::string(v));
    else if constexpr (requires { typename T::traits_type; std::string(v); }) return text(std::string(v));
    else if constexpr (requires { v.has_value(); *v; }) return v.has_value() ? image(*v) : "null";
    else if constexpr (requires { v.begin(); v.end(); }) {
        std::vector<std::string> all;
        for (auto&& one : v) all.push_back(image(static_cast<const std::decay_t<decltype(one)>&>(one)));
        if constexpr (requires { v.bucket_count(); }) std::sort(all.begin(), all.end());
        std::string out = "[";
        for (auto& one : all) (out += out.size() > 1 ? "," : "") += one;
        return out + "]";
    }
    else return fields(v, std::make_index_sequence<std::tuple_size<T>::value>());
}
template <class T> void tell(const T& v) {
    std::FILE* file = std::fopen("VALUES", "a");
    std::fprintf(file, "%s\n", image<std::decay_t<const T>>(v).c_str());
    std::fclose(file);
}
}
"""

_JAVA: Final = r"""
class RewardlineTeller {
    static String text(String s) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 32 || c > 126) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }
    static String number(double n) {
        if (Double.isNaN(n) || Double.isInfinite(n)) return "{\"$\":\"" + n + "\"}";
        return n == Math.rint(n) && Math.abs(n) < 1e15 ? Long.toString((long) n) : Double.toString(n);
    }
    static String all(java.lang.Iterable<?> of, boolean sorts) {
        java.util.List<String> out = new java.util.ArrayList<>();
        for (Object one : of) out.add(image(one));
        if (sorts) java.util.Collections.sort(out);
        return "[" + String.join(",", out) + "]";
    }
    static String image(Object v) {
        if (v == null) return "null";
        if (v instanceof Boolean) return v.toString();
        if (v instanceof Character) return "{\"$\":" + text(v.toString()) + "}";
        if (v instanceof Float || v instanceof Double) return number(((Number) v).doubleValue());
        if (v instanceof Number) return v.toString();
        if (v instanceof String) return text((String) v);
        if (v instanceof java.util.Optional) return "{\"$\":\"optional\",\"of\":" + image(((java.util.Optional<?>) v).orElse(null)) + "}";
        if (v instanceof java.util.Set) return "{\"$\":\"set\",\"of\":" + all((java.util.Set<?>) v, true) + "}";
        if (v instanceof java.util.Map) {
            java.util.List<String> out = new java.util.ArrayList<>();
            for (java.util.Map.Entry<?, ?> one : ((java.util.Map<?, ?>) v).entrySet()) out.add("[" + image(one.getKey()) + "," + image(one.getValue()) + "]");
            java.util.Collections.sort(out);
            return "{\"$\":\"map\",\"of\":[" + String.join(",", out) + "]}";
        }
        if (v instanceof java.lang.Iterable) return all((java.lang.Iterable<?>) v, false);
        if (v.getClass().isArray()) {
            java.util.List<Object> out = new java.util.ArrayList<>();
            for (int n = 0; n < java.lang.reflect.Array.getLength(v); n++) out.add(java.lang.reflect.Array.get(v, n));
            return all(out, false);
        }
        return "{\"$\":" + text(v.getClass().getName()) + "}";
    }
    static void tell(Object v) {
        try (java.io.FileWriter file = new java.io.FileWriter("VALUES", true)) {
            file.write(image(v) + "\n");
        } catch (java.io.IOException error) {
            throw new RuntimeException(error);
        }
    }
}
"""

TELLERS: Final[Mapping[str, Teller]] = {
    "javascript": Teller("rewardlineTell({})", "{head}\n{statements}\n", behind=_JAVASCRIPT.replace("VALUES", FILE)),
    "typescript": Teller("rewardlineTell({})", "{head}\n{statements}\n", behind=_JAVASCRIPT.replace("VALUES", FILE)),
    "perl": Teller("rewardline_tell({})", "{head}\n{statements}\n", behind=_PERL.replace("VALUES", FILE)),
    "bash": Teller("rewardline_tell {}", "{statements}\n", before=_BASH.replace("VALUES", FILE), separator=b"\0"),
    "cpp": Teller(
        "::rewardline::tell({})",
        "{head}\nint main() {{\n{statements}\n}}\n",
        before=_CPP.replace("VALUES", FILE),
    ),
    "java": Teller(
        "RewardlineTeller.tell({})",
        "{head}\nclass RewardlineExpected {{\n"
        "public static void main(String[] args) throws Exception {{\n{statements}\n}}\n}}\n",
        behind=_JAVA.replace("VALUES", FILE),
    ),
}
"""By the name of the language."""
