import type { TSchema } from 'typebox'
import { type Content, html, type Markup } from '../../src/pages/html.ts'
import { type FieldError, isNullable, valueOf } from '../../src/records/validation.ts'
import { type Entered, type Field, firstOf, labelOf, localTime, type Offers, searchFor } from './fields.ts'
import type { Offer } from '../../src/records/names.ts'
import type { Words } from './words.ts'

export interface Filled {
  entered: Entered
  offers: Offers
  errors?: readonly FieldError[]
  /** What is saved, if somebody else has changed it meanwhile. */
  saved?: Entered | undefined
}

export function renderFields(
  words: Words,
  fields: readonly Field[],
  { entered, offers, errors = [], saved }: Filled,
): Markup[] {
  return fields.map(field => {
    const { name, label, schema, isList } = field
    const texts = entered.get(name) ?? ['']
    const offer = offers.get(name)
    const now = (isSecret(field) ? undefined : saved?.get(name)) ?? texts
    const own = errors.filter(error => isAbout(field, error))
    const { description, format } = valueOf(schema)
    const ids = [typeof description === 'string' && `hint-${name}`, own.length > 0 && `wrong-${name}`].filter(
      id => id !== false,
    )
    const attributes = html`${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${own.length > 0 && html` aria-invalid="true"`}`
    const remarks = html`
        ${typeof description === 'string' && html`<span id="hint-${name}" class="quiet">${words.say(description)}</span>`}
        ${own.length > 0 && html`<span id="wrong-${name}" class="wrong">${words.quote(own.map(({ message }) => `${message}.`).join(' '))}</span>`}
        ${now.join() !== texts.join() && html`<span class="wrong">${words.savedNow} ${now.map(id => offer?.names.get(id) ?? id).join(', ') || words.nothing}</span>`}`
    if (isList) {
      return html`
      <fieldset${attributes}><legend>${words.title(label)}</legend>
        ${renderBoxes(words, field, texts, offer)}${remarks}
      </fieldset>`
    }
    return html`
      <div class="field">${
        isFlag(field)
          ? html`
        <input type="hidden" name="${name}" value="false">
        <label class="choice"><input type="checkbox" name="${name}" value="true"${attributes}${texts[0] === 'true' && html` checked`}> ${words.title(label)}</label>`
          : html`
        <label for="field-${name}">${words.title(label)}${format === 'date-time' && ' (UTC)'}</label>
        ${renderInput(words, field, texts[0] ?? '', offer, { attributes, nothing: words.nothing })}`
      }${remarks}
      </div>`
  })
}

/** Whether an error is about a field, or about an item of its list. */
export function isAbout({ name }: Field, { field }: FieldError): boolean {
  return field === name || field.startsWith(`${name}.`)
}

function isSecret({ schema }: Field): boolean {
  return 'writeOnly' in schema
}

function isFlag({ schema }: Field): boolean {
  return valueOf(schema).type === 'boolean' && !isNullable(schema)
}

/** Renders the input of a single value. @param nothing the choice that stands for an empty text */
export function renderInput(
  words: Words,
  field: Field,
  text: string,
  offer: Offer | undefined,
  { attributes, nothing }: { attributes?: Markup; nothing: string },
): Markup {
  const { name, schema, isRequired } = field
  const { format } = valueOf(schema)
  // A form that changes a record may leave a secret empty, which then stays as it is.
  const required = isRequired && !isSecret(field) && html` required`
  const all = html` id="field-${name}" name="${name}"${required}${attributes}`
  const choices = offer === undefined ? choicesOf(words, schema) : [...offer.names]
  if (choices !== undefined) {
    const isOpen = !isRequired || text === ''
    return html`<select${all}>${[...(isOpen ? [['', nothing] as const] : []), ...choices].map(
      ([value, name]) => html`
          <option value="${value}"${value === text && html` selected`}>${name}</option>`,
    )}
        </select>${renderSearch(words, name, offer)}`
  }
  if (isSecret(field)) return html`<input${all} type="password" autocomplete="new-password">`
  // A browser drops the first line end of a text area, and every line end of an input.
  if (format === 'text' || text.includes('\n')) return html`<textarea${all} rows="5">\n${text}</textarea>`
  // A field for local times would show other texts as nothing.
  const isTime = format === 'date-time' && (text === '' || localTime.test(text))
  const kind = isTime
    ? html` type="datetime-local" step="any"`
    : (format === 'date' || format === 'moment') && html` type="date"`
  return html`<input${all}${kind} value="${text}" autocomplete="off">`
}

function choicesOf(words: Words, schema: TSchema): (readonly [string, string])[] | undefined {
  const { type, enum: values } = valueOf(schema)
  if (type === 'boolean') return Object.entries({ true: words.yes, false: words.no })
  return Array.isArray(values) ? values.map(String).map(value => [value, words.name(labelOf(value))]) : undefined
}

/** Renders a box for each record that a list may have. Those that it has come first, in their order. */
function renderBoxes(words: Words, { name, isOrdered }: Field, texts: readonly string[], offer?: Offer): Markup {
  const boxes = [...(offer?.names ?? [])].map(
    ([id, text]) => html`
          <div class="choice"><label><input type="checkbox" name="${name}" value="${id}"${texts.includes(id) && html` checked`}> ${text}</label>
            ${isOrdered && html`<label><input type="radio" name="${firstOf(name)}" value="${id}" aria-label="${words.first}: ${text}"${id === texts[0] && html` checked`}> ${words.first}</label>`}</div>`,
  )
  return html`<input type="hidden" name="${name}" value="">
        <div class="choices">${boxes}</div>${renderSearch(words, name, offer)}`
}

/** Renders a field to search for records, if there are too many to offer all. */
function renderSearch(words: Words, name: string, offer: Offer | undefined): Content {
  if (offer === undefined || offer.areAll) return null
  const { names, searched } = offer
  return html`
        <span class="find"><input name="${searchFor(name)}" autocomplete="off" aria-label="${words.beginning}" placeholder="${words.beginning}">
          <button formnovalidate>${words.find}</button></span>${
            searched !== '' &&
            html`
        <span class="quiet" role="status">${words.found(names.size, searched)}</span>`
          }`
}
