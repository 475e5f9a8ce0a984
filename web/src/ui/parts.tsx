// The shared parts of all pages: page with a title, card, badge, chip, notice, empty state. They know no data.
import { type CSSProperties, type ReactNode, useEffect } from 'react';

/** The layer, or trouble, that lends a part its colour; null is neutral. */
export type Tone = 'app' | 'cache' | 'block' | 'device' | 'bad' | null;

/** The class that carries a tone. */
const toneClass = (tone: Tone | undefined) => (tone ? `tone-${tone}` : '');

/** Gives the browser tab its title. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Leadline`;
  }, [title]);
}

/** A page: its title and what stands below it. */
export function Page({
  title,
  children,
  className = '',
}: {
  title: string;
  children: ReactNode;
  className?: string;
}) {
  useTitle(title);
  return (
    <main id="content" tabIndex={-1} className={`page ${className}`}>
      {children}
    </main>
  );
}

/** A bordered part of a page with a heading. */
export function Card({
  title,
  aside,
  children,
  className = '',
  style,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  style?: CSSProperties;
}) {
  return (
    <section className={`card ${className}`} style={style}>
      {title !== undefined && (
        <h2>
          {title}
          {aside !== undefined && <span className="push row tight">{aside}</span>}
        </h2>
      )}
      {children}
    </section>
  );
}

/** A word on a tinted ground. */
export function Badge({
  tone,
  children,
  title,
}: {
  tone?: Tone;
  children: ReactNode;
  title?: string;
}) {
  return (
    <span className={`badge ${toneClass(tone)}`} title={title}>
      {children}
    </span>
  );
}

/** A dot that says how something stands, always beside a word: filled is well, hollow is not. */
export function Dot({ tone, hollow, pulse }: { tone?: Tone; hollow?: boolean; pulse?: boolean }) {
  return (
    <span
      aria-hidden
      className={`dot ${toneClass(tone)} ${hollow ? 'hollow' : ''} ${pulse ? 'pulse' : ''}`}
    />
  );
}

/** A card with one thing to say, and what can be done about it. */
export function Notice({
  tone,
  badge,
  say,
  more,
  actions,
  alert,
}: {
  tone?: Tone;
  badge?: ReactNode;
  say: ReactNode;
  more?: ReactNode;
  actions?: ReactNode;
  alert?: boolean;
}) {
  return (
    <section className={`card notice ${toneClass(tone)}`} role={alert ? 'alert' : undefined}>
      {badge && <Badge tone={tone ?? null}>{badge}</Badge>}
      <div>
        <p className="say">{say}</p>
        {more && <div className="mute">{more}</div>}
      </div>
      {actions && <span className="row tight no-print">{actions}</span>}
    </section>
  );
}

/** What stands where nothing is yet: what it would be, and the next step. */
export function Empty({
  title,
  children,
  actions,
}: {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <section className="card empty">
      <p style={{ fontSize: 17, fontWeight: 650 }}>{title}</p>
      {children && <p className="mute">{children}</p>}
      {actions && <div className="row">{actions}</div>}
    </section>
  );
}
