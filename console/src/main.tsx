import 'bootstrap/dist/css/bootstrap.min.css';
import './styles.css';
import { render } from 'preact';
import { watchIdleness } from './api/session.ts';
import { followStream } from './api/stream.ts';
import { App } from './app.tsx';

/** Bootstrap's colours follow an attribute; the reader's choice is in the browser's preferences. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => (document.documentElement.dataset['bsTheme'] = dark.matches ? 'dark' : 'light');
dark.addEventListener('change', followColours);
followColours();

watchIdleness();
followStream();
render(<App />, document.getElementById('console')!);
