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
    const step = this.#stepOf(key)
    let place = hash(key, this.#seed)
    for (let probe = 0; probe < probes; probe++, place += step) this.#bytes.writeUInt8(this.#byteAt(place) | 1 << (place & 7), indexOf(place))
  }

  has (key: string): boolean {
    const step = this.#stepOf(key)
    let place = hash(key, this.#seed)
    for (let probe = 0; probe < probes; probe++, place += step) if ((this.#byteAt(place) & 1 << (place & 7)) === 0) return false
    return true
  }

  /** The places of a key are as far apart as a second hash says (Kirsch and Mitzenmacher, Less Hashing, Same Performance). */
  #stepOf (key: string): number {
    return hash(key, ~this.#seed) | 1
  }

  #byteAt (place: number): number {
    return this.#bytes.readUInt8(indexOf(place))
  }
}

/** Of the byte that has a place's bit. */
function indexOf (place: number): number {
  return (place & bits - 1) >>> 3
}

/** FNV-1a over UTF-16 units, and MurmurHash3's end, for each bit to count. */
function hash (key: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b)
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35)
  return hash ^ hash >>> 16
}
