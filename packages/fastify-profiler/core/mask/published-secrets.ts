import { groupBy } from '../group-by.ts'
import { isSensitiveField, isWords } from './secret-names.ts'

// Nearly all texts have none, and are told at once.
/** Finds prefixes in texts by their first two characters. */
class PrefixIndex<Value> {
  /** Whether two ASCII characters begin a prefix. */
  readonly #starts = new Uint8Array(128 * 128)
  readonly #entries: ReadonlyMap<string, ReadonlyArray<readonly [prefix: string, value: Value]>>

  constructor(entries: Iterable<readonly [prefix: string, value: Value]>) {
    // Longest first, because one prefix may begin another.
    const longestFirst = [...entries].sort(([one], [other]) => other.length - one.length)
    this.#entries = groupBy(longestFirst, ([prefix]) => prefix.slice(0, 2))
    for (const start of this.#entries.keys()) this.#starts[start.charCodeAt(0) * 128 + start.charCodeAt(1)] = 1
  }

  /** Finds the first prefix at or after an index; null if there is none. */
  find(text: string, from: number): { at: number; end: number; value: Value } | null {
    let previous = text.charCodeAt(from)
    for (let next = from + 1; next < text.length; next++) {
      const code = text.charCodeAt(next)
      if (previous < 128 && code < 128 && this.#starts[previous * 128 + code] === 1) {
        const at = next - 1
        const entry = this.#entries.get(text.slice(at, at + 2))?.find(([prefix]) => text.startsWith(prefix, at))
        if (entry !== undefined) return { at, end: at + entry[0].length, value: entry[1] }
      }
      previous = code
    }
    return null
  }
}

interface PublishedForm {
  prefixes: readonly string[]
  /** Matches what follows the prefix. A group, which must end the match, is the secret; otherwise all of it is. */
  rest: RegExp
  /** The length of the part of the secret before the prefix. */
  lead?: number
  /** True for passwords. Words after a token's prefix are no token: a CSS class may begin the same way. */
  mayBeWords?: boolean
}

function inAnyCase(word: string): string[] {
  let spellings = ['']
  for (const letter of word) {
    const forms = new Set([letter.toLowerCase(), letter.toUpperCase()])
    spellings = spellings.flatMap(start => [...forms].map(form => start + form))
  }
  return spellings
}

/**
 * The known formats. Repetitions are bounded or end the pattern, so that matching takes linear time. Minimum lengths
 * are below the published ones, because issuers change them.
 */
export const publishedForms: Record<string, PublishedForm> = {
  // Prefixes as their issuers and gitleaks (below) list them. What follows may be any token, rather than too little.
  'prefixed token': {
    prefixes: (
      'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- ' +
      'glsoat- glffct- sk-proj- sk-svcacct- sk-admin- sk-ant- sk-or-v1- ya29. GOCSPX- pypi- hvs. hvb. hvr. ' +
      'ops_eyJ ATATT3 ATCTT3 ATBB dckr_pat_ dckr_oat_ dp.pt. dp.st. dp.ct. dp.sa. figd_ fo1_ fm1a_ fm1r_ ' +
      'fm2_ glsa_ glc_ HRKU- NRAK- NRII- NRJS- pscale_tkn_ pscale_pw_ pscale_oauth_ sntrys_ sntryu_ ' +
      'sq0atp- sq0csp- sbp_ sb_secret_ portico_ AGE-SECRET-KEY-1 xkeysib- tskey- PMAK- dt0c01.'
    ).split(' '),
    rest: /[\w.+/=-]{19,}/y,
  },
  'prefixed letters and digits': {
    prefixes: (
      'npm_ hf_ api_org_ dop_v1_ doo_v1_ dor_v1_ shpat_ shpca_ shppa_ shpss_ sk- AKCp gsk_ xai- pplx- ' +
      'lin_api_ lin_oauth_ ntn_ rubygems_'
    ).split(' '),
    rest: /[A-Za-z\d]{30,}/y,
  },
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
  'AWS access key': { prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], rest: /[A-Z\d]{16}(?![A-Za-z\d])/y },
  // https://docs.slack.dev/authentication/tokens
  'Slack token': {
    prefixes: 'xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxc- xoxd- xoxe.xoxb- xoxe.xoxp- xapp-'.split(' '),
    rest: /[\w%-]{10,}/y,
  },
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  'Slack webhook': { prefixes: ['hooks.slack.com/'], rest: /(?:services|workflows|triggers)\/([\w/+-]{16,})/y },
  // https://docs.discord.com/developers/resources/webhook
  'Discord webhook': {
    prefixes: ['discord.com/api/', 'discordapp.com/api/'],
    rest: /(?:v\d+\/)?webhooks\/\d{10,}\/([\w-]{30,})/y,
  },
  'Discord bot token': { prefixes: ['Bot '], rest: /([\w-]{20,40}\.[\w-]{5,8}\.[\w-]{20,50})/y },
  // https://core.telegram.org/bots/features#botfather
  'Telegram bot token': { prefixes: [':AA'], rest: /(?<=\d{8,10}:AA)[\w-]{32,}/y },
  // https://docs.stripe.com/keys
  'Stripe key': { prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], rest: /[\w/+]{10,}={0,2}/y },
  // https://cloud.google.com/docs/authentication/api-keys
  'Google API key': { prefixes: ['AIza'], rest: /[\w-]{35}/y },
  // https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys
  'SendGrid key': { prefixes: ['SG.'], rest: /[\w-]{16,32}\.[\w-]{32,64}/y },
  // https://www.twilio.com/docs/iam/api-keys
  'Twilio key': { prefixes: ['SK'], rest: /[\da-f]{32}(?![A-Za-z\d])/y },
  'Terraform token': { prefixes: ['.atlasv1.'], rest: /(?<=[A-Za-z\d]{14}\.atlasv1\.)[\w=-]{50,}/y, lead: 14 },
  // Prefixes and alphabets as listed by https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml
  'Airtable token': { prefixes: ['pat'], rest: /[A-Za-z\d]{14}\.[\da-f]{64}/y },
  'Alibaba access key': { prefixes: ['LTAI'], rest: /[A-Za-z\d]{16,20}(?![A-Za-z\d])/y },
  'Azure client secret': { prefixes: ['Q~'], rest: /(?<=[\w~.]{3}\dQ~)[\w~.-]{31,34}/y, lead: 4 },
  'Databricks token': { prefixes: ['dapi'], rest: /[\da-f]{32}(?:-\d)?/y },
  'Mailchimp key': { prefixes: ['-us'], rest: /(?<=[\da-f]{32}-us)\d\d?/y, lead: 32, mayBeWords: true },
  'Mailgun key': { prefixes: ['key-'], rest: /[\da-f]{32}(?![A-Za-z\d])/y },
  'MaxMind key': { prefixes: ['_mmk'], rest: /(?<=[A-Za-z\d]{6}_[A-Za-z\d]{29}_mmk)/y, lead: 36 },
  // https://datatracker.ietf.org/doc/html/rfc7519. Matches an incomplete token too, since the text may have been cut.
  'JSON web token': { prefixes: ['eyJ'], rest: /(?<![-_]eyJ)[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/y },
  // https://datatracker.ietf.org/doc/html/rfc7468
  'private key': {
    prefixes: ['-----BEGIN '],
    rest: /[A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----([\s\S]*?)(?=-----END|$)/y,
  },
  // https://github.com/P-H-C/phc-string-format and crypt(5)
  'password hash': {
    prefixes: ['$2a$', '$2b$', '$2y$', '$argon2', '$scrypt$', '$pbkdf2', '$5$', '$6$', '$y$'],
    rest: /[\w.,=/+$-]{30,}/y,
  },
  // https://datatracker.ietf.org/doc/html/rfc6750 and rfc7617
  'HTTP credentials': {
    prefixes: [...inAnyCase('bearer '), ...inAnyCase('basic '), 'Negotiate ', 'negotiate ', 'NEGOTIATE '],
    rest: / {0,3}([\w.~+/-]{8,}={0,2})/y,
  },
  // https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1. A user name without a password may be a token.
  'credentials in a URL': {
    prefixes: ['://'],
    rest: /(?=(?:(?!:\/\/)[^\s@"'`<>]){1,300}@)(?:[^\s:/?#@[\]"'`<>]{0,100}:(?:([^\s/"'`<>]{1,300})|(?!\d{1,5}\/)([^\s@"'`<>]{1,300}(?:@[^\s/@"'`<>]{1,300}(?=@)){0,5}))|((?=[^\s:/@]{0,99}\d)[^\s:/?#@[\]"'`<>]{10,200}|[^\s:/?#@[\]"'`<>]{20,200}))(?=@)/y,
    mayBeWords: true,
  },
  // https://curl.se/docs/manpage.html#-u. A backslash continues the line.
  'credentials for curl': {
    prefixes: ['curl ', 'curl.exe '],
    rest: /(?:(?:(?!curl(?:\.exe)? )(?:[^\n]|(?<=\\)\n)){0,300}(?:[ \t]|\\\n))?(?:-[a-zA-Z]{0,10}[uU]|--user|--proxy-user)[ =]?(?:["'][^:"'\n]{0,100}:([^"'\n]{1,200})|[^\s:"']{1,100}:([^\s"']{1,200}))/y,
    mayBeWords: true,
  },
  // https://dev.mysql.com/doc/refman/8.4/en/connecting.html
  'password for MySQL': {
    prefixes: ['mysql ', 'mysqldump ', 'mysqladmin ', 'mariadb ', 'mariadb-dump '],
    rest: /(?:[^\n]{0,300} )?-p(?:["']([^"'\n]{1,200})|([^\s"']{1,200}))/y,
    mayBeWords: true,
  },
  'password for sshpass': {
    prefixes: ['sshpass '],
    rest: /-p ?(?:["']([^"'\n]{1,200})|([^\s"']{1,200}))/y,
    mayBeWords: true,
  },
  'option of a command': {
    prefixes: ['--'],
    rest: /(?<name>[\w-]{1,40})[ =]{1,4}(?:["']([^"'\n]{6,200})|([^\s"'<-][^\s"']{5,200}))/iy,
  },
}

const index = new PrefixIndex(
  Object.values(publishedForms).flatMap(form => form.prefixes.map(prefix => [prefix, form] as const)),
)

/** A prefix must not begin within a word, unless an encoded or escaped character precedes it. */
const start = /(?<![A-Za-z\d])|(?<=%[\dA-Fa-f]{2}|\\[bfnrt])/y

export function addPublished(text: string, places: Place[]): void {
  for (let found = index.find(text, 0); found !== null; found = index.find(text, found.end)) {
    const {
      at,
      end,
      value: { rest, lead = 0, mayBeWords = false },
    } = found
    start.lastIndex = at
    rest.lastIndex = end
    if (lead === 0 && /^[a-z]/i.test(text.charAt(at)) && !start.test(text)) continue
    const match = rest.exec(text)
    if (match === null) continue
    const [whole, ...groups] = match
    const name = match.groups?.name
    const secret = groups.find(group => group !== undefined && group !== name)
    // Unlike other names, every option that ends with `key` takes a secret.
    if (name !== undefined && !/(?:key|auth)$/i.test(name) && !isSensitiveField(name, secret ?? '')) continue
    // Continues after the match: matching again within it could take quadratic time.
    found.end = rest.lastIndex
    if (!mayBeWords && isWords(secret ?? whole)) continue
    places.push([secret === undefined ? at - lead : found.end - secret.length, found.end])
  }
}

/** A range of a text, as `slice` takes it: `to` is exclusive. */
export type Place = readonly [from: number, to: number]
