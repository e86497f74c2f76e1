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
const time = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/
const earliestTime = Date.parse('0001-01-01T00:00:00Z')
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
  prefix: {
    accepts: text => /^[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]*$/u.test(text),
    expects: 'the beginning of one line of UTF-8 text',
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
  'date-time': {
    accepts: isTime,
    expects: 'a time with its zone, such as 2027-01-31T12:00:00Z or 2027-01-31T13:00:00+01:00',
  },
  moment: {
    accepts: isMoment,
    expects: 'a date such as 2026-01-31 (midnight UTC) or a time such as 2026-01-31T12:00:00Z',
  },
  secret: {
    accepts: text => !/[\p{Cs}\0\uFFFD]/u.test(text),
    expects: 'UTF-8 text without NUL characters',
  },
} satisfies Record<string, TextFormat>

/**
 * Whether a text is a time of RFC 3339, section 5.6, in upper case and with at most microseconds. JavaScript takes 30
 * February for 2 March. PostgreSQL has no greater offsets.
 */
function isTime(text: string): boolean {
  const [, day = ''] = time.exec(text) ?? []
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true
  return isDay && Date.parse(text) >= earliestTime && Date.parse(text) < Date.parse('+010000-01-01T00:00:00Z')
}

/** Whether a text is a time, or a day on its own. */
function isMoment(text: string): boolean {
  return isTime(text) || isTime(`${text}T00:00:00Z`)
}

/** Whether a language tag is canonical: en-GB and not en-gb, he and not iw. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text)[0] === text
  } catch {
    return false
  }
}
