/** A form of a page, as a browser would send it untouched. */
export interface SentForm {
  method: string
  action: string
  fields: URLSearchParams
}

/** The forms of a page. */
export function formsIn(page: string): SentForm[] {
  return [...page.matchAll(/<form\b[^>]*>[^]*?<\/form>/g)].map(([form]) => {
    const { action = '', method = 'get' } = attributesOf(/^<form[^>]*>/.exec(form)?.[0] ?? '')
    const fields = new URLSearchParams()
    for (const [element] of form.matchAll(/<input\b[^>]*>|<(select|textarea)\b[^>]*>[^]*?<\/\1>/g)) {
      const { name = '', ...attributes } = attributesOf(/^<[^>]*>/.exec(element)?.[0] ?? '')
      const value = textIn(element) ?? (element.startsWith('<select') ? chosenIn(element) : (attributes['value'] ?? ''))
      const isBox = attributes['type'] === 'checkbox' || attributes['type'] === 'radio'
      if (!isBox || 'checked' in attributes) fields.append(name, value)
    }
    return { method, action, fields }
  })
}

/** The text of a text area, whose first line end is not part of it. */
function textIn(element: string): string | undefined {
  const [, text] = /^<textarea\b[^>]*>\n?([^]*)<\/textarea>$/.exec(element) ?? []
  return text && decoded(text).replaceAll('\n', '\r\n')
}

/** The value of the selected option, or of the first. */
function chosenIn(select: string): string {
  const options = [...select.matchAll(/<option[^>]*>/g)].map(([tag]) => attributesOf(tag))
  return (options.find(option => 'selected' in option) ?? options[0])?.['value'] ?? ''
}

function attributesOf(tag: string): Record<string, string> {
  const attributes = [...tag.matchAll(/\s([\w.-]+)(?:="([^"]*)")?/g)]
  return Object.fromEntries(attributes.map(([, name = '', value = '']) => [name, plainText(value)]))
}

/** The text of markup. */
export function plainText(markup: string): string {
  const text = markup.replace(/<style>[^]*?<\/style>/g, '').replace(/<[^>]*>/g, ' ')
  return decoded(text).replace(/\s+/g, ' ').trim()
}

function decoded(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))).replaceAll('&amp;', '&')
}
