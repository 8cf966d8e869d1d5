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

_C: Final = r"""
#include <math.h>
#include <stdio.h>
static void rewardline_line(const char* form, const char* text) {
    FILE* file = fopen("VALUES", "a");
    fprintf(file, form, text);
    fclose(file);
}
static void rewardline_text(const char* s) {
    FILE* file = fopen("VALUES", "a");
    if (!s) fputs("null", file);
    else {
        fputc('"', file);
        for (; *s; s++) {
            if (*s == '"' || *s == '\\') fputc('\\', file);
            if ((unsigned char)*s < 32) fprintf(file, "\\u%04x", *s);
            else fputc(*s, file);
        }
        fputc('"', file);
    }
    fputc('\n', file);
    fclose(file);
}
static void rewardline_real(long double n) {
    char out[64];
    if (!isfinite(n)) rewardline_line("{\"$\":\"%s\"}\n", isnan(n) ? "nan" : n > 0 ? "inf" : "-inf");
    else { snprintf(out, sizeof out, "%.21Lg", n == 0 ? 0 : n); rewardline_line("%s\n", out); }
}
static void rewardline_whole(long long n) { char out[32]; snprintf(out, sizeof out, "%lld", n); rewardline_line("%s\n", out); }
static void rewardline_modular(unsigned long long n, int bits) {
    char out[64];
    if (n >> (bits - 1)) snprintf(out, sizeof out, "{\"$\":\"u%d\",\"of\":%llu}", bits, n);
    else snprintf(out, sizeof out, "%llu", n);
    rewardline_line("%s\n", out);
}
static void rewardline_unsigned(unsigned n) { rewardline_modular(n, 32); }
static void rewardline_natural(unsigned long long n) { rewardline_modular(n, 64); }
#define rewardline_tell(x) _Generic((x), char*: rewardline_text, const char*: rewardline_text, \
    float: rewardline_real, double: rewardline_real, long double: rewardline_real, unsigned: rewardline_unsigned, \
    unsigned long: rewardline_natural, unsigned long long: rewardline_natural, default: rewardline_whole)(x)
"""

_RUST: Final = r"""
trait RewardlineImage { fn rewardline_image(&self) -> String; }
macro_rules! rewardline_plain { ($($t:ty)*) => { $(impl RewardlineImage for $t {
    fn rewardline_image(&self) -> String { format!("{}", self) }
})* } }
rewardline_plain! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool }
impl RewardlineImage for () { fn rewardline_image(&self) -> String { "null".to_string() } }
macro_rules! rewardline_real { ($($t:ty)*) => { $(impl RewardlineImage for $t { fn rewardline_image(&self) -> String {
    if self.is_finite() { format!("{}", if *self == 0.0 { 0.0 } else { *self }) }
    else if self.is_nan() { "{\"$\":\"nan\"}".to_string() } else { format!("{{\"$\":\"{}\"}}", self) }
} })* } }
rewardline_real! { f32 f64 }
impl RewardlineImage for str { fn rewardline_image(&self) -> String { format!("{:?}", self) } }
impl RewardlineImage for String { fn rewardline_image(&self) -> String { format!("{:?}", self) } }
impl RewardlineImage for char { fn rewardline_image(&self) -> String { format!("{:?}", self) } }
impl<T: RewardlineImage + ?Sized> RewardlineImage for &T { fn rewardline_image(&self) -> String { (**self).rewardline_image() } }
impl<T: RewardlineImage + ?Sized> RewardlineImage for Box<T> { fn rewardline_image(&self) -> String { (**self).rewardline_image() } }
fn rewardline_all<T: RewardlineImage>(all: impl Iterator<Item = T>, sorts: bool) -> String {
    let mut out: Vec<String> = all.map(|one| one.rewardline_image()).collect();
    if sorts { out.sort(); }
    format!("[{}]", out.join(","))
}
impl<T: RewardlineImage> RewardlineImage for [T] { fn rewardline_image(&self) -> String { rewardline_all(self.iter(), false) } }
impl<T: RewardlineImage> RewardlineImage for Vec<T> { fn rewardline_image(&self) -> String { rewardline_all(self.iter(), false) } }
impl<T: RewardlineImage, const N: usize> RewardlineImage for [T; N] {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), false) }
}
impl<T: RewardlineImage> RewardlineImage for std::collections::VecDeque<T> {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), false) }
}
impl<T: RewardlineImage, S> RewardlineImage for std::collections::HashSet<T, S> {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), true) }
}
impl<T: RewardlineImage> RewardlineImage for std::collections::BTreeSet<T> {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), true) }
}
impl<K: RewardlineImage, V: RewardlineImage, S> RewardlineImage for std::collections::HashMap<K, V, S> {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), true) }
}
impl<K: RewardlineImage, V: RewardlineImage> RewardlineImage for std::collections::BTreeMap<K, V> {
    fn rewardline_image(&self) -> String { rewardline_all(self.iter(), true) }
}
impl<T: RewardlineImage> RewardlineImage for Option<T> { fn rewardline_image(&self) -> String {
    match self { Some(one) => format!("{{\"$\":\"some\",\"of\":{}}}", one.rewardline_image()), None => "null".to_string() }
} }
impl<T: RewardlineImage, E: RewardlineImage> RewardlineImage for Result<T, E> { fn rewardline_image(&self) -> String {
    match self {
        Ok(one) => format!("{{\"$\":\"ok\",\"of\":{}}}", one.rewardline_image()),
        Err(one) => format!("{{\"$\":\"err\",\"of\":{}}}", one.rewardline_image()),
    }
} }
macro_rules! rewardline_tuple { ($($t:ident $n:tt),*) => { impl<$($t: RewardlineImage),*> RewardlineImage for ($($t,)*) {
    fn rewardline_image(&self) -> String { format!("[{}]", [$(self.$n.rewardline_image()),*].join(",")) }
} } }
rewardline_tuple! { A 0 }
rewardline_tuple! { A 0, B 1 }
rewardline_tuple! { A 0, B 1, C 2 }
rewardline_tuple! { A 0, B 1, C 2, D 3 }
rewardline_tuple! { A 0, B 1, C 2, D 3, E 4 }
rewardline_tuple! { A 0, B 1, C 2, D 3, E 4, F 5 }
fn rewardline_tell<T: RewardlineImage>(value: T) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open("VALUES").unwrap();
    std::io::Write::write_all(&mut file, format!("{}\n", value.rewardline_image()).as_bytes()).unwrap();
}
"""

_GO: Final = r"""
import "fmt"
import "os"
import "reflect"
import "sort"
import "strings"
import "time"
func rewardlineTyped(value interface{}) string { return rewardlineImage(reflect.ValueOf(value), 0, true) }
func rewardlineImage(v reflect.Value, depth int, named bool) string {
    if !v.IsValid() || depth > 1000 {
        return "nil"
    }
    var all []string
    add := func(v reflect.Value) { all = append(all, rewardlineImage(v, depth+1, false)) }
    text := ""
    switch v.Kind() {
    case reflect.Interface:
        return rewardlineImage(v.Elem(), depth+1, true)
    case reflect.Ptr:
        text = "nil"
        if !v.IsNil() {
            text = "&" + rewardlineImage(v.Elem(), depth+1, false)
        }
    case reflect.Slice, reflect.Array:
        for n := 0; n < v.Len(); n++ {
            add(v.Index(n))
        }
        text = "[" + strings.Join(all, " ") + "]"
        if v.Kind() == reflect.Slice && v.IsNil() {
            text = "nil"
        }
    case reflect.Struct:
        for n := 0; n < v.NumField(); n++ {
            add(v.Field(n))
        }
        text = "{" + strings.Join(all, " ") + "}"
    case reflect.Map:
        for _, key := range v.MapKeys() {
            all = append(all, rewardlineImage(key, depth+1, false)+":"+rewardlineImage(v.MapIndex(key), depth+1, false))
        }
        sort.Strings(all)
        text = "{" + strings.Join(all, " ") + "}"
        if v.IsNil() {
            text = "nil"
        }
    case reflect.String:
        text = fmt.Sprintf("%q", v.String())
    default:
        text = fmt.Sprintf("%v", v)
        if text == "NaN" {
            text = fmt.Sprint(time.Now().UnixNano()) // which equals nothing
        }
    }
    if named {
        return v.Type().String() + "(" + text + ")"
    }
    return text
}
func rewardlineTell(value interface{}) {
    file, _ := os.OpenFile("VALUES", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0644)
    text := fmt.Sprintf("%v", value)
    if text == "NaN" {
        text = "{\"$\":\"nan\"}"
    } else if v := reflect.ValueOf(value); !v.IsValid() || (v.Kind() == reflect.Ptr && v.IsNil()) {
        text = "null"
    } else {
        text = fmt.Sprintf("%q", text)
    }
    file.WriteString(text + "\n")
    file.Close()
}
"""

_LUA: Final = r"""
local function rewardline_image(v)
  local kind = type(v)
  if kind == 'number' then
    if v ~= v then return '{"$":"nan"}' end
    if math.type(v) == 'float' and v > -2^53 and v < 2^53 and v == math.floor(v) then v = math.floor(v) end
    return string.format(math.type(v) == 'integer' and '%d' or '%.17g', v)
  elseif kind == 'string' then
    return (string.format('%q', v):gsub('\n', 'n'))
  elseif kind == 'table' then
    local all = {}
    for k, one in next, v do all[#all + 1] = rewardline_image(k) .. ':' .. rewardline_image(one) end
    table.sort(all)
    return '{' .. table.concat(all, ',') .. '}'
  elseif kind == 'nil' or kind == 'boolean' then
    return tostring(v)
  end
  return '{"$":"' .. kind .. '"}'
end
function rewardline_tell(v)
  local file = io.open('VALUES', 'a')
  file:write(rewardline_image(v), '\n')
  file:close()
end
"""

_PHP: Final = r"""
function rewardline_image($v) {
    if ($v === null) return 'null';
    if (is_bool($v)) return $v ? 'true' : 'false';
    if (is_int($v)) return (string) $v;
    if (is_float($v)) return is_nan($v) ? '{"$":"nan"}' : '{"$":"' . ($v == 0 ? 0 : var_export($v, true)) . '"}';
    if (is_string($v)) return '"' . addcslashes($v, "\0..\37\"\\\177..\377") . '"';
    if (!is_array($v)) return '{"$":"' . bin2hex(random_bytes(8)) . '"}';
    $all = [];
    foreach ($v as $key => $one) $all[] = rewardline_image($key) . ':' . rewardline_image($one);
    return '[' . implode(',', $all) . ']';
}
function rewardline_tell($v) { file_put_contents('VALUES', rewardline_image($v) . "\n", FILE_APPEND); }
"""

_R: Final = r"""
rewardline_tell <- function(v) {
  control <- c("keepNA", "keepInteger", "niceNames", "showAttributes", "digits17")
  cat(paste(base::deparse(v, width.cutoff = 500L, control = control), collapse = " "), "\n", sep = "", file = "VALUES", append = TRUE)
}
"""

_RUBY: Final = r"""
module RewardlineTeller
  def self.all(values) = values.map { |one| image(one) }
  def self.image(v)
    case v
    when nil then 'null'
    when true, false, Integer then v.to_s
    when Float
      return %({"$":"#{v.to_s.downcase}"}) unless v.finite?
      v == v.floor ? v.to_i.to_s : v.to_s
    when Rational then v.to_f.to_r == v ? image(v.to_f) : %({"$":"Rational","of":#{v.to_s.dump}})
    when String then v.dup.force_encoding('BINARY').dump
    when Symbol then %({"$":#{image(v.to_s)}})
    when Array then "[#{all(v).join(',')}]"
    when Hash then "{#{v.map { |key, one| "#{image(key)}:#{image(one)}" }.sort.join(',')}}"
    when Range then %({"$":"range","of":#{image([v.begin, v.end, v.exclude_end?])}})
    else
      return %({"$":"set","of":[#{all(v.to_a).sort.join(',')}]}) if defined?(Set) && v.is_a?(Set)
      %({"$":#{image(v.class.name)},"of":#{image(v.to_s)}})
    end
  end
end
def rewardline_tell(v) = File.write('VALUES', RewardlineTeller.image(v) + "\n", mode: 'a')
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
    "c": Teller(
        "rewardline_tell({})", "{head}\nint main(void) {{\n{statements}\n}}\n", before=_C.replace("VALUES", FILE)
    ),
    "rust": Teller(
        "rewardline_tell({})", "{head}\nfn main() {{\n{statements}\n}}\n", behind=_RUST.replace("VALUES", FILE)
    ),
    "rust_test": Teller(
        "crate::rewardline_tell({})",
        "{head}\n#[test]\nfn rewardline_values() {{\n{statements}\n}}\n",
        behind=_RUST.replace("VALUES", FILE),
    ),
    "go": Teller("rewardlineTell({})", "func main() {{\n{statements}\n}}\n", behind=_GO.replace("VALUES", FILE)),
    "go_test": Teller(
        "rewardlineTell({})",
        'import "testing"\nfunc TestValues(t *testing.T) {{\n{statements}\n}}\n',
        behind=_GO.replace("VALUES", FILE),
    ),
    "lua": Teller("rewardline_tell({})", "{statements}\n", before=_LUA.replace("VALUES", FILE)),
    "php": Teller("rewardline_tell({})", "<?php\n{statements}\n", behind=_PHP.replace("VALUES", FILE)),
    "r": Teller("rewardline_tell({})", "{statements}\n", before=_R.replace("VALUES", FILE)),
    "ruby": Teller("rewardline_tell({})", "{head}\n{statements}\n", before=_RUBY.replace("VALUES", FILE)),
}
"""By the name of the language."""
