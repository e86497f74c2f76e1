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
    'secret',
    'token',
    'authorization',
    'auth$',
    'credential',
    'cookie',
    'session',
    'sessid',
    '^(?:x|connect)?sid$',
    '^(?:x|proxy)?authentication(?:info)?$',
    '^dpop$',
    'dsn$',
    'csrf',
    'xsrf',
    'signature',
    '^sig$',
    '^hmac',
    '^salt$',
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
    '(?:api|access|private|secret|signing|encryption|master|license|client|account|app|x|auth|' +
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
  ].join('|'),
)

/** A number at the end of a name. */
const numbering = /v?\d+$/

/** A `key` or `code` may be harmless, so its value decides. */
const key = /^key\d*$/i
const code = /^code$/i
const random = /^(?=.*\d)(?=.*[a-z])[\w.~+=-]{12,}$/i

const verdicts = new Map<string, boolean>()

/** Whether every value under this name (of a header, field, parameter or variable) is a secret. */
export function isSensitiveName(name: string): boolean {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  const plain = name
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  const word = plain.replace(numbering, '')
  const verdict = (sensitive.test(plain) || sensitive.test(word)) && !harmless.test(word) && !harmless.test(plain)
  // Clients choose names, so the cache must be bounded.
  if (verdicts.size >= 1000) verdicts.clear()
  if (name.length < 100) verdicts.set(name, verdict)
  return verdict
}

/** Whether a name is sensitive only with certain values. */
export function needsValue(name: string): boolean {
  return key.test(name) || code.test(name)
}

/** Whether a field's value is a secret under its name. */
export function isSensitiveField(name: string, value: string): boolean {
  return isSensitiveName(name) || (isKey(name) && random.test(value) && !isWords(value))
}

function isKey(name: string): boolean {
  return (name.startsWith('k') || name.startsWith('K')) && key.test(name)
}

/** Whether a URL parameter is a secret. Unlike in fields, a random `code` is: OAuth's authorization code. */
export function isSensitiveParameter(name: string, value: string): boolean {
  return isSensitiveField(name, value) || (code.test(name) && isGrant(value))
}

/** Whether a value looks like an authorization code: long and random. */
export function isGrant(value: string): boolean {
  return value.length >= 12 && looksSecret(value) && !/^[A-Z\d_]+$/.test(value)
}
