import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/schemas.ts';
import { transactions as words } from '../../strings.ts';

interface AdviceProps {
  readonly advice: Schema<'AdviceResponse'>;
  /** The buttons for what the advice names. */
  readonly children: ComponentChildren;
}

/** What to do, and whether money moved. */
export function Advice({ advice: { action, text }, children }: AdviceProps) {
  return (
    <section class={`advice advice-${action}`} aria-label={words.advice}>
      <p class="mb-0">
        <strong>{words.action[action]}</strong> {text}
      </p>
      <div class="toolbar">{children}</div>
    </section>
  );
}
