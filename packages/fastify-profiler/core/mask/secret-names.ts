import { read, textOf } from '../foreign-value.ts'
import { remember } from '../bounds.ts'

/** Shorter values occur in too many other texts. */
const shortest = 8

/** Words and short numbers, joined as in identifiers and paths: `session_id`, `Europe/Paris`, `maxAge`. */
const words = /^(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)(?:[-_./: ](?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|\d{1,4}))*$/

/** A run of letters too long for a word, a long text with spaces, or four words with hyphens. */
const passphrase = /[a-z]{25}|^(?=.{20}).* |^[a-z]{3,}(?:-[a-z]{3,}){3}/i

/** Dates, algorithms, local addresses and e-mail addresses. */
const common = new RegExp(
  [
    '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z?$',
    '^(?:hmac|sha|md|aes|[hrep]s|utf|iso|base)[-_]?\\d+[-\\w]{0,10}$',
    '^localhost:\\d+$',
    '^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)*\\.[a-z]+$',
  ].join('|'),
  'i',
)

export function isWords(text: string): boolean {
  return words.test(text)
}

/** Whether a value is so improbable that other occurrences must be the same secret. */
export function looksSecret(text: string): boolean {
  if (text.length < shortest) return false
  const start = text.slice(0, 200)
  if (/^[\d .:/+-]*$/.test(start)) return isLongNumber(start)
  if (new Set(start.slice(0, 32)).size < 4) return false
  if (isWords(start)) return passphrase.test(start)
  return !common.test(start)
}

/** Whether digits are a card number or a long code, rather than a date or an IP address. */
function isLongNumber(text: string): boolean {
  return /^(?!\d{4}-\d\d-\d\d)(?!(\d)\1*$)(?:\d[ -]?){8,}$/.test(text)
}

const sensitive = new RegExp(
  [
    'pass(?:word|wd|phrase|code)?$',
    'password',
    'passwd',
    'passphrase',
    '^pw$',
    '(?:user|db|database|old|new|login|admin|root)pw$',
    'pwd',
    'passwort',
    'kennwort',
    'motdepasse',
    'contrase(?:n|ny)?a',
    '^(?:nova|minha|sua|user)?senhas?$',
    'passkeys?$',
    'secret(?!ar[iy])',
    'token(?!i[sz]er)',
    'authorization',
    'auth$',
    'credential',
    'cookie',
    'session',
    'sessid',
    '^(?:x|proxy)?authentication(?:info)?$',
    '^dpop$',
    'dsn$',
    'csrf',
    'xsrf',
    'signature',
    '^sig$',
    '^hmac',
    '^t?otp',
    'otp$',
    'otpcode',
    '^private$',
    '^pin(?:code|number)?$',
    'cvv',
    'cvc',
    'creditcard',
    'cardnumber',
    'iban',
    '^ssn$',
    'bearer',
    'jwt',
    'samlresponse',
    'assertion$',
    '(?:code|oauth)verifier',
    'mnemonic',
    '(?:seed|recovery)phrase$',
    'securityanswers?$',
    'cardno$',
    '(?:auth|verification|recovery|backup|security|access|activation|confirmation|reset|login|mfa|sms|device|user)' +
      'codes?$',
    '(?:api|access|private|secret|signing|encryption|master|license|client|app|x|auth|' +
      'subscription|shared|storage|function|functions|admin|service|server|' +
      'deploy|webhook|ssh|aes)keys?$',
  ].join('|'),
)

/** Names that only sound like secrets, and names of a secret's properties: `COOKIE_NAME`, `tokenType`. */
const harmless = new RegExp(
  [
    '^xdebugtoken(?:link)?$',
    '^(?:by|com)pass$',
    '^(?:oauth2?|auth0)$',
    '^accesscontrolallowcredentials$',
    '(?:max|total|prompt|completion|input|output|cached)tokens$',
    '(?:name|type|url|uri|endpoint|path|file|dir|domain|host|' +
      'prefix|length|size|count|limit|ttl|maxage|lifetime|timeout|enabled)s?$',
    '(?:required|secure|httponly|samesite|policy|format|algorithm|version|issuer|audience|' +
      'manager|address|sock|agentpid)$',
    '(?:expir(?:y|es|ed|ation)|created|updated|issued)(?:at|in|on|date)?$',
    '(?:ed|set|sent)at$',
    '(?<!up)date$',
    '^designature$',
  ].join('|'),
)

const numbering = /v?\d+$/

/** Short ids and the like, which are secret only if the value looks random: `sid=seat-12` is not. */
const id = /^(?:(?:x|connect)?sid|salt|accountkeys?)$/

/** Whether values under a name are secrets. Under most kinds of names the value decides. */
type Kind = 'secret' | 'tokens' | 'key' | 'code' | 'id' | 'harmless'

const random = /^(?=.*\d)(?=.*[a-z])[\w.~+=-]{12,}$/i

// Clients choose names, so what is remembered must be bounded.
const kindOf = remember(
  (given): Kind => {
    const name = given.slice(0, 200).toLowerCase()
    if (/^key\d*$/.test(name)) return 'key'
    if (name === 'code') return 'code'
    const plain = name.replace(/[^a-z0-9]/g, '')
    const word = plain.replace(numbering, '')
    if (id.test(word)) return 'id'
    if (!(sensitive.test(plain) || sensitive.test(word)) || harmless.test(word) || harmless.test(plain)) {
      return 'harmless'
    }
    return /(?:token|session)s$/.test(plain) ? 'tokens' : 'secret'
  },
  { most: 1000, longest: 100 },
)

/** Whether every value under this name (of a header, field, parameter or variable) is a secret. */
export function isSensitiveName(name: string): boolean {
  const kind = kindOf(name)
  return kind === 'secret' || kind === 'tokens'
}

/** Whether a name is sensitive only with certain values. */
export function needsValue(name: string): boolean {
  const kind = kindOf(name)
  return kind === 'key' || kind === 'code' || kind === 'id'
}

export function isSensitiveField(name: string, value: string): boolean {
  switch (kindOf(name)) {
    case 'secret':
      return true
    case 'tokens':
      // `tokens: 120` is a count.
      return !/^\d{1,5}$/.test(value)
    case 'key':
      return random.test(value) && !isWords(value)
    case 'id':
      return looksSecret(value)
    default:
      return false
  }
}

/** One of several names for each kind. They decide whether a value with all of these names is a secret. */
export function decisiveNames(names: readonly string[]): Iterable<string> {
  return new Map(names.map(name => [kindOf(name), name])).values()
}

/** Whether a URL parameter is a secret. Unlike in fields, a random `code` is: OAuth's authorization code. */
export function isSensitiveParameter(name: string, value: string): boolean {
  return isSensitiveField(name, value) || (kindOf(name) === 'code' && isGrant(value))
}

/** Whether a value looks like an authorization code: long and random. */
function isGrant(value: string): boolean {
  return value.length >= 12 && looksSecret(value) && !/^[A-Z\d_]+$/.test(value)
}

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
