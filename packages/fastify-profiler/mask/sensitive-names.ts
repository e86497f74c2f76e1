import { isWords, looksSecret } from './secret-values.ts'

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
    'token',
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
    '^oauth2?$',
    '^auth0$',
    '(?:max|total|prompt|completion|input|output|cached)tokens$',
    '(?:name|type|url|uri|endpoint|path|file|dir|domain|host|' +
      'prefix|length|size|count|limit|ttl|maxage|lifetime|timeout|enabled)s?$',
    '(?:required|secure|httponly|samesite|policy|format|algorithm|version|issuer|audience|' +
      'manager|address|sock|agentpid)$',
    '(?:expir(?:y|es|ed|ation)|created|updated|issued)(?:at|in|on|date)?$',
    '(?:ed|set|sent)at$',
    '^designature$',
  ].join('|'),
)

/** A number at the end of a name. */
const numbering = /v?\d+$/

/** Session ids, and what is as often harmless: `sid=seat-12`. */
const id = /^(?:(?:x|connect)?sid|salt|accountkeys?)$/

/** Whether values under a name are secrets. Under most kinds of names the value decides. */
type Kind = 'secret' | 'tokens' | 'key' | 'code' | 'id' | 'harmless'

const random = /^(?=.*\d)(?=.*[a-z])[\w.~+=-]{12,}$/i

const kinds = new Map<string, Kind>()

function kindOf(name: string): Kind {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const kind = findKind(name.slice(0, 200).toLowerCase())
  // Clients choose names, so the cache must be bounded.
  if (kinds.size >= 1000) kinds.clear()
  if (name.length < 100) kinds.set(name, kind)
  return kind
}

function findKind(name: string): Kind {
  if (/^key\d*$/.test(name)) return 'key'
  if (name === 'code') return 'code'
  const plain = name.replace(/[^a-z0-9]/g, '')
  const word = plain.replace(numbering, '')
  if (id.test(word)) return 'id'
  if (!(sensitive.test(plain) || sensitive.test(word)) || harmless.test(word) || harmless.test(plain)) return 'harmless'
  return plain.endsWith('tokens') ? 'tokens' : 'secret'
}

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

/** Whether a field's value is a secret under its name. */
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
export function isGrant(value: string): boolean {
  return value.length >= 12 && looksSecret(value) && !/^[A-Z\d_]+$/.test(value)
}
