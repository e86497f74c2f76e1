import { normaliseHost } from '../http/host.ts'
import { isEmail, normaliseEmail } from '../sign-in/account.ts'

/** A rule for a text field that JSON Schema cannot express. */
export interface TextFormat {
  accepts: (text: string) => boolean
  /** Completes the sentence "<field> must be …". */
  expects: string
}

const largestId = 2n ** 63n - 1n
const id = /^[1-9]\d{0,18}$/
// A replacement character (U+FFFD) means that the text was decoded with the wrong encoding.
const line = /^(?!\s)[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]+(?<!\s)$/u

/** The formats of record fields. */
export const formats = {
  id: {
    accepts: text => id.test(text) && BigInt(text) <= largestId,
    expects: 'an id: a whole number from 1 to 9223372036854775807, as text',
  },
  line: {
    accepts: text => line.test(text),
    expects: 'one line of UTF-8 text without leading or trailing spaces',
  },
  host: {
    accepts: text => normaliseHost(text) === text,
    expects: 'a host such as museum.example, in lower case and without a port',
  },
  'language-tag': {
    accepts: isLanguageTag,
    expects: 'a language tag (BCP 47) such as en or pt-BR',
  },
  email: {
    // Normalised, so that two addresses that look the same belong to one person.
    accepts: text => line.test(text) && isEmail(text) && normaliseEmail(text) === text,
    expects: "an e-mail address, in Unicode's normal form C",
  },
  secret: {
    accepts: text => !/[\p{Cs}\0\uFFFD]/u.test(text),
    expects: 'UTF-8 text without NUL characters',
  },
} satisfies Record<string, TextFormat>

/** Whether a language tag is canonical: en-GB and not en-gb, he and not iw. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text)[0] === text
  } catch {
    return false
  }
}
