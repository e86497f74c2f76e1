/** Returns the translations for a locale, or the English words. */
export function wordsFor<Words>(locale: string, translations: Record<string, Words>, english: Words): Words {
  return translations[locale.replace(/-.*/, '').toLowerCase()] ?? english
}
