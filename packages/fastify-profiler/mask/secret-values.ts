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

/** Whether a text consists of words only. */
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
