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
    '(?:auth|verification|recovery|backup|security|access|activation|confirmation|reset|login|mfa|sms|device|user)codes?$',
    '(?:api|access|private|secret|signing|encryption|master|license|client|account|app|x|auth|subscription|shared|storage|function|functions|admin|service|server|deploy|webhook|ssh|aes)keys?$',
  ].join('|'),
)

/** Names that sound like secrets and are none, and those that say something about a secret: `COOKIE_NAME`, `tokenType`. */
const harmless = new RegExp(
  [
    '^xdebugtoken(?:link)?$',
    '^(?:by|com)pass$',
    '^oauth2?$',
    '^auth0$',
    '(?:max|total|prompt|completion|input|output|cached)tokens$',
    '(?:name|type|url|uri|endpoint|path|file|dir|domain|host|prefix|length|size|count|limit|ttl|maxage|lifetime|timeout|enabled)s?$',
    '(?:required|secure|httponly|samesite|policy|format|algorithm|version|issuer|audience|manager|address|sock|agentpid)$',
    '(?:expir(?:y|es|ed|ation)|created|updated|issued)(?:at|in|on|date)?$',
  ].join('|'),
)

/** What is put behind a name where there are several of its kind. */
const numbering = /v?\d+$/

/** A key is as often no secret: its value decides. */
const key = /^key\d*$/i
const code = /^code$/i
const random = /^(?=.*\d)(?=.*[a-z])[\w.~+=-]{12,}$/i

const verdicts = new Map<string, boolean>()

/** Whether every value under this name (of a header, a field, a parameter, a variable) is a secret. */
export function isSensitiveName(name: string): boolean {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  // Nobody gives longer names.
  const plain = name
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  const word = plain.replace(numbering, '')
  const verdict = (sensitive.test(plain) || sensitive.test(word)) && !harmless.test(word) && !harmless.test(plain)
  // Requests choose names: they must not fill the memory, nor stay for ever.
  if (verdicts.size >= 1000) verdicts.clear()
  if (name.length < 100) verdicts.set(name, verdict)
  return verdict
}

/** Whether the value decides if it is a secret under this name. */
export function needsValue(name: string): boolean {
  return key.test(name) || code.test(name)
}

/** Whether a field's value is a secret under its name. */
export function isSensitiveField(name: string, value: string): boolean {
  return isSensitiveName(name) || (key.test(name) && random.test(value) && !isWords(value))
}

/** The same for a URL's parameter: a random `code` is what OAuth hands over. */
export function isSensitiveParameter(name: string, value: string): boolean {
  return isSensitiveField(name, value) || (code.test(name) && isGrant(value))
}

/** Whether a value looks like an authorization code: long and random. */
export function isGrant(value: string): boolean {
  return value.length >= 12 && looksSecret(value) && !/^[A-Z\d_]+$/.test(value)
}
