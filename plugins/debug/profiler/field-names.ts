import { read } from './foreign-value.ts'
import { isSensitiveName, isSensitiveParameter } from './sensitive-names.ts'

/** An object with more fields is no pair of a name and a value. */
const fieldsOfPair = 8

const nameField = /^(?:name|key|field|header|param(?:eter)?|property)$/i
const valueField = /^(?:value|val|content)$/i

/** What only objects have that hand over OAuth's `code`. */
const grantField = /^(?:grant_?type|redirect_?uri)$/i

/** A name as people give them; a secret that stands under `key` has digits amid its letters. */
const plainName = /^[a-z][a-z _.[\]-]{0,60}\d{0,2}$/i

/** Whether a text is a name as people give them. */
export function isPlainName (text: string): boolean {
  return plainName.test(text)
}

const noNames: ReadonlyMap<string, string> = new Map()

/**
 * The names that fields of an object stand under where these are not their keys: in `{ name: 'password', value }`
 * the object itself names its value, and beside a `grant_type` the `code` is a credential.
 */
export function fieldNames (object: object, keys: readonly string[]): ReadonlyMap<string, string> {
  if (keys.includes('code') && keys.some(key => grantField.test(key))) {
    const code = read(object, 'code')
    if (typeof code === 'string' && isSensitiveParameter('code', code)) return new Map([['code', 'authorization code']])
  }
  if (keys.length < 2 || keys.length > fieldsOfPair) return noNames
  const value = keys.find(key => valueField.test(key))
  const name = keys.find(key => nameField.test(key))
  if (value === undefined || name === undefined) return noNames
  const given = read(object, name)
  if (typeof given !== 'string') return noNames
  return new Map([[name, isPlainName(given) ? 'name' : name], [value, given]])
}

/** Longer arrays are no lists of headers. */
const longestList = 200

/** Whether the item before this one is its name, as in ['Authorization', 'Basic …'] and in lists of raw headers. */
export function isNamedByTheOneBefore (items: readonly unknown[], index: number): boolean {
  if (index % 2 !== 1 || items.length % 2 === 1 || items.length > longestList) return false
  const name = items[index - 1]
  const value = items[index]
  return typeof name === 'string' && typeof value === 'string' && isPair(name, value)
}

/** It has a digit or a sign beside its letters, or is longer than words are. */
const noWord = /^(?=.*[a-z])(?=.*[^a-z '!_.-]).{6}|^\S{30}/is
const sentence = /^(?:[\w',.!?-]+ ){2,}[\w',.!?-]+$/

/** Whether these are a name for a secret and something that could be one: no two names in a list, and no complaint about a field. */
export function isPair (name: string, value: string): boolean {
  return isPlainName(name) && isSensitiveName(name) && !isSensitiveWord(value) && noWord.test(value) && !sentence.test(value)
}

function isSensitiveWord (text: string): boolean {
  return isPlainName(text) && isSensitiveName(text)
}
