import type { HeaderLine, Profile } from '../base/profile.ts'
import type { Comparison, ValuePair } from './comparison.ts'

/** Headers that differ between any two responses. */
const ofEveryResponse = new Set(['date', 'server-timing', 'x-debug-token', 'x-debug-token-link'])

/** Compares the headers of requests and responses by name. */
export function compareValues(a: Profile, b: Profile): Pick<Comparison, 'values' | 'equalHeaders'> {
  const pairs = [
    ...pairHeaders('request', a.request.headers, b.request.headers),
    ...pairHeaders('response', a.response.headers, b.response.headers),
  ]
  const values = pairs.filter(({ a, b }) => a !== b)
  return { values, equalHeaders: pairs.length - values.length }
}

function pairHeaders(of: ValuePair['of'], a: readonly HeaderLine[], b: readonly HeaderLine[]): ValuePair[] {
  const valuesA = valuesOf(a)
  const valuesB = valuesOf(b)
  return [...new Set([...valuesA.keys(), ...valuesB.keys()])].map(name => ({
    name,
    of,
    a: valuesA.get(name) ?? null,
    b: valuesB.get(name) ?? null,
  }))
}

/** The values of each header, those of one name joined. */
function valuesOf(headers: readonly HeaderLine[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const [header, value] of headers) {
    const name = header.toLowerCase()
    if (ofEveryResponse.has(name)) continue
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return values
}
