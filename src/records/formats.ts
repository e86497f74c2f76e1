import { normaliseHost } from '../http/host.ts'
import { isEmail, normaliseEmail } from '../sign-in/account.ts'

/** What the text of a field may be, beyond what JSON Schema itself can say. */
export interface TextFormat {
  accepts: (text: string) => boolean
  /** Completes the sentence "<field> must be …". */
  expects: string
}

const largestId = 2n ** 63n - 1n
const id = /^[1-9]\d{0,18}$/
// A replacement character stands where text was read in another encoding than its own.
const line = /^(?!\s)[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]+(?<!\s)$/u

/** The formats that the fields of records name. */
export const formats = {
  id: {
    accepts: text => id.test(text) && BigInt(text) <= largestId,
    expects: 'an id: a whole number from 1 to 9223372036854775807, written as text',
  },
  line: {
    accepts: text => line.test(text),
    expects: 'one line of text, in UTF-8, without blanks at its ends',
  },
  host: {
    accepts: text => normaliseHost(text) === text,
    expects: 'a host such as museum.example: in lower case, without port',
  },
  'language-tag': {
    accepts: isLanguageTag,
    expects: 'a language tag (BCP 47) such as en or pt-BR',
  },
  email: {
    // Two that look the same are of one person.
    accepts: text => line.test(text) && isEmail(text) && normaliseEmail(text) === text,
    expects: "an e-mail address, in Unicode's normal form C",
  },
  secret: {
    accepts: text => !/[\p{Cs}\0\uFFFD]/u.test(text),
    expects: 'text in UTF-8, without a NUL character',
  },
} satisfies Record<string, TextFormat>

/** Well-formed, and written as everybody writes it: en-GB is not en-gb, nor is he iw. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text)[0] === text
  } catch {
    return false
  }
}
