// Parts shared by all pages: page, card, badge, dot, notice, empty state, scroll region. These
// components do not depend on application data.
import { type CSSProperties, createContext, type ReactNode, type Ref, use, useEffect } from 'react';

/** An I/O layer's color or the error color; null for a neutral color. */
export type Tone = 'app' | 'cache' | 'block' | 'device' | 'bad' | null;

const toneClass = (tone: Tone | undefined) => (tone ? `tone-${tone}` : '');

export function useTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Leadline`;
  }, [title]);
}

interface PageProps {
  title: string;
  children: ReactNode;
  className?: string;
}

export function Page({ title, children, className = '' }: PageProps) {
  useTitle(title);
  return (
    <main id="content" tabIndex={-1} className={`page ${className}`}>
      {children}
    </main>
  );
}

interface CardProps {
  title?: ReactNode;
  /** Content at the right end of the title row. */
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  style?: CSSProperties;
}

/** The enclosing card's title, if it is text. */
const CardTitle = createContext('');

export function Card({ title, aside, children, className = '', style }: CardProps) {
  return (
    <section className={`card ${className}`} style={style}>
      {title !== undefined && (
        <h2>
          {title}
          {aside !== undefined && <span className="push row tight">{aside}</span>}
        </h2>
      )}
      <CardTitle value={typeof title === 'string' ? title : ''}>{children}</CardTitle>
    </section>
  );
}

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

/**
 * Status dot. It is always next to text, because color must not be the only indicator. `hollow`
 * means pending, failed or unavailable; `active` means in progress.
 */
export function Dot({ tone, hollow, active }: { tone?: Tone; hollow?: boolean; active?: boolean }) {
  return (
    <span
      aria-hidden
      className={`dot ${toneClass(tone)} ${hollow ? 'hollow' : ''} ${active ? 'active' : ''}`}
    />
  );
}

interface NoticeProps {
  tone?: Tone;
  badge?: ReactNode;
  title: ReactNode;
  detail?: ReactNode;
  actions?: ReactNode;
  /** If true, screen readers announce the notice immediately. */
  alert?: boolean;
}

export function Notice({ tone = null, badge, title, detail, actions, alert }: NoticeProps) {
  return (
    <section className={`card notice ${toneClass(tone)}`} role={alert ? 'alert' : undefined}>
      {badge && <Badge tone={tone}>{badge}</Badge>}
      <div>
        <p className="title">{title}</p>
        {detail && <div className="mute">{detail}</div>}
      </div>
      {actions && <span className="row tight no-print">{actions}</span>}
    </section>
  );
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Empty state that suggests the next step. */
export function Empty({ title, children, actions }: EmptyProps) {
  return (
    <section className="card empty">
      <p className="title">{title}</p>
      {children && <p className="mute">{children}</p>}
      {actions && <div className="row">{actions}</div>}
    </section>
  );
}

interface ScrollRegionProps {
  label: string;
  className?: string;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
}

/** A scroll container that can have focus, so that it can be scrolled by keyboard. */
export function ScrollRegion({ label, className = 'scroll-x', children, ref }: ScrollRegionProps) {
  const card = use(CardTitle);
  // Landmarks need unique names, but cards of the same kind have regions with the same label.
  const context = card && card !== label ? `, ${card}` : '';
  return (
    <section
      ref={ref}
      className={`scrolls ${className}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be focusable
      tabIndex={0}
      aria-label={`${label}${context}, scrollable`}
    >
      {children}
    </section>
  );
}
