/** Makes Swagger UI follow the system's colour scheme and fit a phone. */
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
  /* Hidden: "Authorize" cannot set the HttpOnly cookie, and the description already links to the document. */
  .swagger-ui .topbar, .swagger-ui .scheme-container, .swagger-ui .authorization__btn, .swagger-ui .info .link { display: none }
`
