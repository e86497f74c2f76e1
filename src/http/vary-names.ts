import { memoize } from './memoize.ts'

/** The code names few combinations of headers. */
const mostKept = 100

/** Makes a function that adds names, separated by ", ", to the value of a Vary header. */
export const addingNames = memoize(names => memoize(value => addNames(value, names), mostKept), mostKept)

/** Adds the names that the value of a Vary header lacks. */
export function addNames(value: string, names: string): string {
  const missing = names.split(', ').filter(name => !`, ${value},`.includes(`, ${name},`))
  return [value, ...missing].join(', ')
}
