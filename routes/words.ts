/** A page's words in the language of a locale, or in English. */
export function wordsFor<Words>(locale: string, translations: Record<string, Words>, english: Words): Words {
  return translations[locale.replace(/-.*/, '').toLowerCase()] ?? english
}
