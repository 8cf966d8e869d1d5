
;(async (topLevel, Solution, exported) => {
  // The program's objects come as arguments, so that no name in here can hide one of the program's.
  const { readFileSync, writeFileSync } = await import('node:fs');
  const maxDepth = 128;

  const image = (value, depth) => {
    if (value === undefined || value === null) return null;
    if (typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number') return numberImage(value);
    if (typeof value === 'bigint') return integerImage(value);
    if (typeof value === 'object' && depth < maxDepth) return objectImage(value, depth + 1);
    return { opaque: typeof value };
  };

  const numberImage = (value) => {
    if (Number.isNaN(value)) return { float: 'nan' };
    if (!Number.isFinite(value)) return { float: value > 0 ? 'inf' : '-inf' };
    return Number.isInteger(value) ? integerImage(BigInt(value)) : value;
  };

  const integerImage = (value) => {
    const magnitude = value < 0n ? -value : value;
    if (magnitude < 1n << 53n) return Number(value);
    return { int: (value < 0n ? '-0x' : '0x') + magnitude.toString(16) };
  };

  const objectImage = (value, depth) => {
    const images = (values) => Array.from(values, (item) => image(item, depth));
    const pairs = (entries) => ({ dict: Array.from(entries, images) });
    if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) return images(value);
    if (value instanceof Set) return { set: images(value) };
    if (value instanceof Map) return pairs(value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return pairs(Object.entries(value));
    return { opaque: String(prototype.constructor?.name).slice(0, 100) };
  };

  const callee = () => {
    if (topLevel) return topLevel;
    if (Solution && typeof Solution.prototype?.{function} === 'function') {
      const solution = new Solution();
      return solution.{function}.bind(solution);
    }
    if (typeof exported?.{function} === 'function') return exported.{function}.bind(exported);
    throw new ReferenceError('{function} is not defined');
  };

  // JavaScript has no keyword arguments: their values follow the positional ones, in the order in which they were sent.
  const [positional, keywords] = JSON.parse(readFileSync(3, 'utf8'));
  const value = await callee()(...positional, ...Object.values(keywords));
  writeFileSync(4, JSON.stringify(image(value, 0)));
  process.exit(0);
})(
  typeof {function} === 'function' ? {function} : undefined,
  typeof Solution === 'function' ? Solution : undefined,
  typeof module === 'object' ? module.exports : undefined,
);
