/**
 * Runs in the browser: shows an OpenAPI document with Swagger UI. `swagger-ui-init.js` calls it with the document that
 * belongs to the page.
 */
globalThis.showDocument = (spec, { persistAuthorization }) => {
  const { SwaggerUIBundle, SwaggerUIStandalonePreset } = globalThis;
  // What an earlier visit to a sandbox at this address may have stored.
  if (!persistAuthorization) globalThis.localStorage.removeItem('authorized');
  globalThis.addEventListener('load', () => {
    SwaggerUIBundle({
      spec,
      dom_id: '#swagger-ui',
      deepLinking: true,
      presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
      plugins: [bearerTokensAsPasswords],
      layout: 'StandaloneLayout',
      persistAuthorization,
      // Where the script that signs is missing this throws, and nothing is sent.
      requestInterceptor: (request) => globalThis.signForCroupier(request),
    });
  });
};

/** Swagger UI hides the password of Basic authentication by itself, but shows a bearer token as it is typed. */
const bearerTokensAsPasswords = ({ React }) => ({
  wrapComponents: {
    Input: (Input) => (properties) =>
      React.createElement(Input, {
        ...properties,
        ...(properties.id === 'auth-bearer-value' && { type: 'password', autoComplete: 'off' }),
      }),
  },
});
