/**
 * Runs in the browser: shows an OpenAPI document with Swagger UI. The script of a page calls it with its document.
 */
globalThis.showDocument = (spec, { sandbox, version, docExpansion }) => {
  const { SwaggerUIBundle, localStorage, addEventListener } = globalThis;
  // Removes what an earlier visit to a sandbox at this address may have stored.
  if (!sandbox) localStorage.removeItem('authorized');
  followColorScheme();
  addEventListener('load', () => {
    SwaggerUIBundle({
      docExpansion,
      persistAuthorization: sandbox,
      spec,
      dom_id: '#swagger-ui',
      deepLinking: true,
      filter: true,
      tryItOutEnabled: true,
      syntaxHighlight: { theme: 'tomorrow-night' },
      defaultModelsExpandDepth: 0,
      plugins: [
        credentialsByName,
        localReferences,
        parsedAsJson,
        operationsFilter,
        briefErrors,
        hiddenKey,
        namedFields,
        ...(sandbox ? [] : [confirmedChanges]),
        bannerOf({ environment: sandbox ? 'sandbox' : 'production', version }),
      ],
      // If the signing script is missing, this throws and nothing is sent.
      requestInterceptor: (request) => globalThis.signForCroupier(request),
    });
  });
};

/** Shows the page dark or light, as the system is set. */
function followColorScheme() {
  const dark = globalThis.matchMedia('(prefers-color-scheme: dark)');
  const show = () => globalThis.document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', show);
  show();
}

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

/** The fields of an operation in which the filter looks for each word. */
const textOf = (tag, operation) =>
  [
    tag,
    operation.get('method'),
    operation.get('path'),
    operation.getIn(['operation', 'summary'], ''),
    operation.getIn(['operation', 'operationId'], ''),
  ]
    .join(' ')
    .toLowerCase();

/** Filters operations instead of tags, and unfolds the tags of those that are left. */
const operationsFilter = ({ React }) => ({
  wrapComponents: {
    FilterContainer: () => (properties) => {
      const filter = properties.layoutSelectors.currentFilter();
      return React.createElement(
        'div',
        { className: 'filter wrapper' },
        React.createElement('input', {
          className: 'operation-filter-input',
          type: 'search',
          'aria-label': 'Filter operations',
          placeholder: 'Filter operations by words, path or method',
          value: typeof filter === 'string' ? filter : '',
          onChange: ({ target }) => properties.layoutActions.updateFilter(target.value),
        }),
      );
    },
  },
  fn: {
    opsFilter: (tags, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/);
      const matches = (tag) => (operation) => words.every((word) => textOf(tag, operation).includes(word));
      return tags
        .map((group, tag) => group.update('operations', (operations) => operations.filter(matches(tag))))
        .filter((group) => group.get('operations').size > 0);
    },
  },
  statePlugins: {
    layout: {
      wrapSelectors: {
        isShown: (isShown) => (state, thing, byDefault) => {
          const filtered = typeof state.get('filter') === 'string' && state.get('filter') !== '';
          return (filtered && thing[0] === 'operations-tag') || isShown(thing, byDefault);
        },
      },
    },
  },
});

/** Shows a documented error as one row with its codes: all errors have the same body and headers. */
const briefErrors = ({ React, getComponent }) => ({
  wrapComponents: {
    response: (Response) => (properties) => {
      const { code, response, className } = properties;
      if (!(Number(code) >= 400)) return React.createElement(Response, properties);
      const description = React.createElement(getComponent('Markdown', true), {
        source: response.get('description'),
      });
      return React.createElement(
        'tr',
        { className: `response ${className}`, 'data-code': code },
        React.createElement('td', { className: 'response-col_status' }, code),
        React.createElement('td', { className: 'response-col_description', colSpan: 2 }, description),
      );
    },
  },
});

/** Leaves credentials out of the curl command, which people copy into tickets. */
const hiddenKey = ({ React }) => ({
  wrapComponents: {
    curl: (Curl) => (properties) => {
      const authorization = ['headers', 'Authorization'];
      const { request } = properties;
      const shown = request.hasIn(authorization)
        ? request.setIn(authorization, 'Bearer <admin key>')
        : request;
      return React.createElement(Curl, { ...properties, request: shown });
    },
  },
});

/** Names fields for screen readers, and removes the choice between servers, because there is only one. */
const namedFields = ({ React }) => {
  const named = (name, field) =>
    React.createElement(
      'label',
      {},
      React.createElement('span', { className: 'for-screen-readers' }, name),
      field,
    );
  return {
    wrapComponents: {
      ServersContainer: () => () => null,
      JsonSchemaForm: (Form) => (properties) => {
        const field = React.createElement(Form, properties);
        return properties.schema?.get('type') === 'array' ? field : named(properties.description, field);
      },
      ExamplesSelect: (Select) => (properties) => named('Example', React.createElement(Select, properties)),
      RequestBodyEditor: (Editor) => (properties) => named('Body', React.createElement(Editor, properties)),
    },
  };
};

/** Sends a request that may change something only after a confirmation. */
const confirmedChanges = () => ({
  wrapComponents: {
    execute: (Execute) =>
      class extends Execute {
        constructor(properties) {
          super(properties);
          const send = this.onClick;
          this.onClick = () => {
            const { method, path } = this.props;
            const question = `This is production. Send ${method.toUpperCase()} ${path} to ${globalThis.location.host}?`;
            if (method === 'get' || globalThis.confirm(question)) send();
          };
        }
      },
  },
});

/** Shows above the document which installation this is, and who is signed in. */
const bannerOf =
  ({ environment, version }) =>
  ({ React, getComponent }) => ({
    components: {
      Banner: ({ authSelectors }) => {
        const credentials = authSelectors.authorized();
        const who = useSignedIn(React, credentials);
        return React.createElement(
          'p',
          { className: `banner ${environment}`, role: 'status' },
          `${environment} · version ${version} · ${who}`,
        );
      },
    },
    wrapComponents: {
      InfoContainer: (Info) => (properties) =>
        React.createElement(
          React.Fragment,
          {},
          React.createElement(getComponent('Banner', true)),
          React.createElement(Info, properties),
        ),
    },
  });

/** Who is signed in, in words: by an admin key, as `GET /v1/admin/me` answers, or as a tenant. */
function useSignedIn(React, credentials) {
  const key = credentials.getIn(['admin-key', 'value']);
  const [administrator, setAdministrator] = React.useState();
  React.useEffect(() => {
    let current = true;
    setAdministrator(undefined);
    if (key) void readAdministrator(key).then((name) => current && setAdministrator(name));
    return () => (current = false);
  }, [key]);
  const tenants = credentials
    .valueSeq()
    .map((credential) => credential.getIn(['value', 'username']))
    .filter((id) => id)
    .toArray();
  const names = [...(administrator ? [administrator] : []), ...tenants];
  return names.length > 0 ? `signed in: ${names.join(', ')}` : 'not signed in';
}

async function readAdministrator(key) {
  const response = await fetch('/v1/admin/me', { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) return `admin key refused (${response.status})`;
  const { name, role } = await response.json();
  return `${name} (${role})`;
}
