/** The values of an object's internal symbols with this description; empty if this version of the library has none. */
export function internal(owner: object, description: string): unknown[] {
  const keys = Object.getOwnPropertySymbols(owner).filter(symbol => symbol.description === description)
  return keys.map((key): unknown => Reflect.get(owner, key))
}
