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
  // Signing in comes back to the open operation, too, which only the browser knows.
  const signIn = document.querySelector('#signed-in a')
  signIn?.addEventListener('click', () => {
    signIn.search = '?next=' + encodeURIComponent(location.pathname + location.search + location.hash)
  })
`

export const style = `
  :root { color-scheme: light dark }
  body { background: light-dark(#fbfbfa, #14171c) }
  #signed-in { max-width: 1460px; margin: 0 auto; padding: .75rem 20px 0; font: 1rem/1.5 system-ui, sans-serif;
    color: light-dark(#1c2128, #e6e9ee); overflow-wrap: anywhere }
  #signed-in p { margin: 0 }
  #signed-in a { color: light-dark(#0a57a4, #7cb8f2) }
  #signed-in form { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center }
  #signed-in button { font: inherit; color: inherit; cursor: pointer; padding: .25rem .7rem; border-radius: .4rem;
    border: 1px solid light-dark(#818b98, #6e7783); background: light-dark(#fff, #1b2027) }
  /* Swagger UI leaves these dark on dark. */
  .dark-mode .swagger-ui table.headers td { color: inherit }
  /* Hidden: "Authorize" cannot set the HttpOnly cookie, and the description already links to the document. */
  .swagger-ui .topbar, .swagger-ui .scheme-container, .swagger-ui .authorization__btn, .swagger-ui .info .link { display: none }
`
