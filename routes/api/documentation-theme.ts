/** Where Swagger UI differs from what it is on its own: it is as dark as the system, and fits a phone. */
export const script = `
  const viewport = document.createElement('meta')
  viewport.name = 'viewport'
  viewport.content = 'width=device-width, initial-scale=1'
  document.head.append(viewport)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
`

export const style = `
  :root { color-scheme: light dark }
  body { background: light-dark(#fbfbfa, #14171c) }
  /* Signing in sets the cookie, which no script can; the document's address is in its description. */
  .swagger-ui .topbar, .swagger-ui .scheme-container, .swagger-ui .authorization__btn, .swagger-ui .info .link { display: none }
`
