import { read, textOf } from '../base/foreign-value.ts'
import { looksSecret } from './secret-values.ts'
import { isGrant, isSensitiveField, isSensitiveName } from './sensitive-names.ts'

/** An object with more fields is not a pair of a name and a value. */
const fieldsOfPair = 8

const nameField = /^(?:name|key|field|header|param(?:eter)?|property)$/i
const valueField = /^(?:value|val|content)$/i
const longestValueField = 'content'.length

/** Fields that occur beside `code` in an OAuth token request. */
const grantField = /^(?:grant_?type|redirect_?uri)$/i

/** Longer arrays are not lists of raw headers. */
const longestList = 200

/** Returns a function that finds the name of each value: its key, another field, or the array item before it. */
export function namesWithin(value: object, keys: readonly string[], name: string): (key: string) => string {
  // Everything below a sensitive name is sensitive.
  if (isSensitiveName(name)) return () => name
  if (Array.isArray(value)) {
    return key => (isNamedByTheOneBefore(value, Number(key)) ? textOf(value[Number(key) - 1]) : name)
  }
  if (keys.includes('code') && keys.some(key => grantField.test(key)) && isGrant(textOf(read(value, 'code')))) {
    return key => (key === 'code' ? 'authorization code' : key)
  }
  const pair = pairOf(value, keys)
  return pair === null ? ownName : key => (key === pair.key ? pair.name : key)
}

function ownName(key: string): string {
  return key
}

/** In `{ name: 'password', value: '…' }`, the key `value` and the name `password`. */
function pairOf(object: object, keys: readonly string[]): { key: string; name: string } | null {
  if (keys.length < 2 || keys.length > fieldsOfPair) return null
  const key = keys.find(key => key.length <= longestValueField && valueField.test(key))
  const nameKey = key === undefined ? undefined : keys.find(key => nameField.test(key))
  if (key === undefined || nameKey === undefined) return null
  const name = read(object, nameKey)
  return typeof name === 'string' ? { key, name } : null
}

/** Whether an array item is named by the one before it, as in Node's rawHeaders: ['Authorization', 'Basic …']. */
function isNamedByTheOneBefore(items: readonly unknown[], index: number): boolean {
  if (index % 2 !== 1 || items.length % 2 === 1 || items.length > longestList) return false
  const name = items[index - 1]
  const value = items[index]
  return (
    typeof name === 'string' &&
    typeof value === 'string' &&
    isSensitiveField(name, value) &&
    !looksSecret(name) &&
    looksSecret(value)
  )
}
