import { decode } from './percent-encoding.ts'

const sensitive = new RegExp([
  'pass(?:word|wd|phrase|code)?$', 'password', 'passwd', 'passphrase', '^pw$', '(?:user|db|database|old|new|login|admin|root)pw$', 'pwd',
  'passwort', 'kennwort', 'motdepasse', 'contrase(?:n|ny)?a', '^(?:nova|minha|sua|user)?senhas?$', 'passkeys?$',
  'secret', 'token', 'authorization', 'auth$', 'credential', 'cookie', 'session', 'sessid', '^(?:x|connect)?sid$', '^x?authentication$', '^dpop$', 'dsn$', 'csrf', 'xsrf', 'signature', '^sig$', '^hmac',
  '^t?otp', 'otp$', 'otpcode', '^private$', '^pin(?:code|number)?$', 'cvv', 'cvc', 'creditcard', 'cardnumber', 'iban', '^ssn$', 'bearer',
  'jwt', 'samlresponse', 'assertion$', '(?:code|oauth)verifier', 'mnemonic', '(?:seed|recovery)phrase$', 'securityanswers?$', 'cardno$', '^key$',
  '(?:auth|verification|recovery|backup|security|access|activation|confirmation|reset|login|mfa|sms|device|user)codes?$',
  '(?:api|access|private|secret|signing|encryption|master|license|client|account|app|x|auth|subscription|shared|storage|function|functions|admin|service|server|deploy|webhook|ssh|aes)keys?$'
].join('|'))

/** Names that sound like secrets and are none. */
const harmless = new Set(['xdebugtoken', 'xdebugtokenlink', 'tokentype', 'bypass', 'compass', 'oauth2', 'auth0'])

/** What is put behind a name where there are several of its kind. */
const numbering = /v?\d+$/

/** A key by number is as often no secret: it is known by what stands there. */
const numberedKey = /^key\d+$/i
const random = /^(?=.*\d)(?=.*[a-z])[\w.~+=-]{12,}$/i

const verdicts = new Map<string, boolean>()

/** Whether what stands under this name (a header, a field, a parameter, a variable) is nobody's business. */
export function isSensitiveName (name: string): boolean {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  // What is longer is no name that anybody gave.
  const plain = name.slice(0, 200).toLowerCase().replace(/[^a-z0-9]/g, '')
  const word = numberedKey.test(plain) ? plain : plain.replace(numbering, '')
  const verdict = (sensitive.test(plain) || sensitive.test(word)) && !harmless.has(word) && !harmless.has(plain)
  // Names come from requests: what is remembered must not grow with them, nor be theirs for ever.
  if (verdicts.size >= 1000) verdicts.clear()
  if (name.length < 100) verdicts.set(name, verdict)
  return verdict
}

/** Whether a text is a secret under this name: a numbered key is where it looks like one. */
export function isSensitiveField (name: string, value: string): boolean {
  return isSensitiveName(name) || (numberedKey.test(name) && random.test(value))
}

/**
 * Whether a URL's parameter is a credential: `code` is the one that OAuth hands over, unless it looks like the code
 * of an error, of a country or of a status.
 */
export function isSensitiveParameter (name: string, value: string): boolean {
  return isSensitiveField(name, value) || (/^code$/i.test(name) && !/^(?:[A-Z][A-Z\d_]*|\w{0,5})$/.test(value))
}

/** Variables of shells and desktops whose names only sound like secrets: a folder is no password. */
const harmlessVariable = /^(?:OLD)?PWD$|^(?:XDG|DESKTOP|DBUS|GDM)_|_SOCK$/

/** The values of the environment that must never be shown, found by their names and in URLs with a password. */
export function environmentSecrets (environment: Record<string, string | undefined>): string[] {
  const secrets: string[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (isSensitiveName(name) && value.length >= 8 && !harmlessVariable.test(name)) secrets.push(value)
    // A password may hold an @ itself, or a slash: up to the first and up to the last are both learned, also as
    // whoever connects with it spells it.
    for (const userInfo of [/^[\w+.-]+:\/\/[^\s:/@]*:([^\s@]+)@/, /^[\w+.-]+:\/\/[^\s:/@]*:(\S+)@/, /^[\w+.-]+:\/\/([^\s:/@]{20,})@/]) {
      const password = userInfo.exec(value)?.[1]
      if (password !== undefined) secrets.push(password, decode(password))
    }
  }
  return secrets
}
