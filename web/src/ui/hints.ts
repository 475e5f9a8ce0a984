// Shows the `title` of elements on keyboard focus, and of hints also on click. Browsers show titles
// only below a mouse pointer.
import './hints.css';

/** Distance from the element, and minimum distance from the edges of the window, in pixels. */
const GAP = 6;

let shown: HTMLElement | null = null;
/** The element whose title is shown. */
let owner: EventTarget | null = null;
/** Whether the last input came from the keyboard. A mouse pointer already shows the title. */
let isKeyboard = true;

/** Adds the listeners. Returns a function that removes them. */
export function startHints(): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  document.addEventListener('focusin', onFocus, { signal });
  document.addEventListener('focusout', ({ target }) => target === owner && hide(), { signal });
  document.addEventListener('click', onClick, { signal });
  document.addEventListener('keydown', onKeyDown, { signal, capture: true });
  document.addEventListener('pointerdown', onPointerDown, { signal, capture: true });
  window.addEventListener('scroll', hide, { signal, capture: true, passive: true });
  window.addEventListener('resize', hide, { signal });
  return () => {
    hide();
    controller.abort();
  };
}

function onKeyDown({ key }: KeyboardEvent) {
  isKeyboard = true;
  if (key === 'Escape') hide();
}

function onPointerDown() {
  isKeyboard = false;
}

function onFocus({ target }: FocusEvent) {
  if (isKeyboard && target instanceof HTMLElement && target.title) show(target);
}

function onClick({ target }: MouseEvent) {
  hide();
  const hint = target instanceof Element ? target.closest<HTMLElement>('.hint') : null;
  if (hint?.title) show(hint);
}

function show(element: HTMLElement) {
  hide();
  owner = element;
  shown = document.createElement('div');
  // Screen readers read the title.
  shown.ariaHidden = 'true';
  shown.className = 'hint-text';
  shown.textContent = element.title;
  document.body.append(shown);
  place(shown, element.getBoundingClientRect());
}

/** Below the element, or above it if there is no room below. */
function place(box: HTMLElement, element: DOMRect) {
  const { offsetWidth: width, offsetHeight: height } = box;
  const { clientWidth, clientHeight } = document.documentElement;
  const left = Math.min(element.left, clientWidth - width - GAP);
  const below = element.bottom + GAP;
  const top = below + height + GAP > clientHeight ? element.top - height - GAP : below;
  box.style.left = `${Math.max(GAP, left)}px`;
  box.style.top = `${Math.max(GAP, top)}px`;
}

function hide() {
  shown?.remove();
  shown = null;
  owner = null;
}
