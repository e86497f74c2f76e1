import { randomBytes } from 'node:crypto'

/** Four megabytes: of a million keys that are not in it with another million it takes one in ten thousand for known, with ten million a quarter. */
const bits = 2 ** 25
const probes = 4

/** A set of keys in little memory, which may take a key for known that was never added, and none for unknown that was. */
export class BloomFilter {
  readonly #bytes = Buffer.alloc(bits / 8)
  /** Nobody else knows which keys it takes for one another. */
  readonly #seed = randomBytes(4).readInt32LE()

  add (key: string): void {
    for (const place of this.#places(key)) this.#bytes.writeUInt8(this.#bytes.readUInt8(place >>> 3) | 1 << (place & 7), place >>> 3)
  }

  has (key: string): boolean {
    return this.#places(key).every(place => (this.#bytes.readUInt8(place >>> 3) & 1 << (place & 7)) !== 0)
  }

  /** As far apart as two hashes say (Kirsch and Mitzenmacher, Less Hashing, Same Performance). */
  #places (key: string): number[] {
    const first = hash(key, this.#seed)
    const step = hash(key, ~this.#seed) | 1
    return Array.from({ length: probes }, (_, probe) => (first + probe * step) >>> 0 & bits - 1)
  }
}

/** FNV-1a over UTF-16 units, and MurmurHash3's end, for each bit to count. */
function hash (key: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b)
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35)
  return hash ^ hash >>> 16
}
