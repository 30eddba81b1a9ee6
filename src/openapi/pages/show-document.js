/**
 * Runs in the browser: shows an OpenAPI document with Swagger UI. The script of a page calls it with its document.
 */
globalThis.showDocument = (spec, settings) => {
  const { SwaggerUIBundle } = globalThis;
  // Removes what an earlier visit to a sandbox at this address may have stored.
  if (!settings.persistAuthorization) globalThis.localStorage.removeItem('authorized');
  globalThis.addEventListener('load', () => {
    SwaggerUIBundle({
      ...settings,
      spec,
      dom_id: '#swagger-ui',
      deepLinking: true,
      defaultModelsExpandDepth: 0,
      plugins: [credentialsByName, localReferences, parsedAsJson],
      // If the signing script is missing, this throws and nothing is sent.
      requestInterceptor: (request) => globalThis.signForCroupier(request),
    });
  });
};

/**
 * Resolves `$ref` within the document; our documents have no others. Swagger UI's own resolver parses the whole
 * document of an OpenAPI 3.1 page, which takes more than a second.
 */
const localReferences = () => ({
  fn: {
    resolveSubtree: async (spec, path) => ({
      spec: resolved(
        spec,
        path.reduce((node, name) => node?.[name], spec),
      ),
      errors: [],
    }),
  },
});

function resolved(spec, node) {
  if (Array.isArray(node)) return node.map((item) => resolved(spec, item));
  if (node === null || typeof node !== 'object') return node;
  const { $ref, ...others } = node;
  const own = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, resolved(spec, value)]),
  );
  return typeof $ref === 'string' ? { ...resolved(spec, referred(spec, $ref)), ...own } : own;
}

/** @param reference such as `#/components/schemas/Session` */
function referred(spec, reference) {
  return reference
    .split('/')
    .slice(1)
    .reduce((node, name) => node[name], spec);
}

/** Parses a document as JSON, which is faster than Swagger UI's YAML parser. */
const parsedAsJson = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson:
          (_, { specActions }) =>
          (text) =>
            specActions.updateJsonSpec(JSON.parse(text)),
      },
    },
  },
});

/** Swagger UI's labels of credentials, and ours. */
const LABELS = {
  'Username:': 'Tenant id:',
  'Password:': 'Secret:',
  'Value:': 'Admin key:',
  '(http, Basic)': ' (signed in this browser)',
};

/** Labels the fields of Authorize, and hides an admin key like a password. */
const credentialsByName = ({ React }) => ({
  wrapComponents: {
    HttpAuth: (HttpAuth) =>
      class extends HttpAuth {
        render() {
          return relabelled(React, super.render());
        }
      },
    Input: (Input) => (properties) =>
      React.createElement(Input, {
        ...properties,
        ...(properties.id === 'auth-bearer-value' && { type: 'password', autoComplete: 'off' }),
      }),
  },
});

function relabelled(React, node) {
  if (typeof node === 'string') return LABELS[node.trim()] ?? node;
  if (!React.isValidElement(node)) return node;
  const { children } = node.props;
  if (children === undefined) return node;
  return React.cloneElement(node, {}, ...[children].flat().map((child) => relabelled(React, child)));
}
