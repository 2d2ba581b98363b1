// One story, as a row.

import {h, setText} from '#design/dom';
import {count, plural, safeUrl, siteName} from '#design/format';
import {icon} from '#design/icons';
import {exactTime, relativeTime} from '#design/time';
import type {Site, Story} from './api';

// The warmth of the ember next to the score: 0 to 3.
const heat = (score: number) => (score >= 500 ? 3 : score >= 200 ? 2 : score >= 75 ? 1 : 0);

// Stories open in a new tab, so that the list keeps its position.
const elsewhere = {target: '_blank', rel: 'noopener noreferrer'};

export interface RowActions {
  hide: (id: number) => void;
}

export function storyRow(story: Story, index: number, site: Site, actions: RowActions): HTMLElement {
  const titleId = `story-${story.id}`;
  const url = safeUrl(story.url);
  const title = url
    ? h(
        'a',
        {
          class: 'story-link',
          href: site.articleUrl === null ? url.href : `${site.articleUrl}${story.id}`,
          ...elsewhere,
        },
        story.title,
      )
    : h('span', {class: 'story-link'}, story.title);
  const row = h(
    'div',
    {class: 'story', 'aria-labelledby': titleId, 'data-id': story.id},
    h('span', {class: 'story-rank numeric', 'aria-hidden': 'true'}),
    h(
      'div',
      {class: 'story-main'},
      h('h2', {class: 'story-title', id: titleId, dir: 'auto'}, title),
      h(
        'p',
        {class: 'story-meta'},
        // Two groups: on phones each has its own line.
        h(
          'span',
          {},
          h('span', {class: 'story-score numeric', 'data-part': 'score'}),
          h('span', {class: 'story-by'}, h('span', {class: 'story-by-word'}, 'by '), h('bdi', {}, story.by)),
        ),
        h(
          'span',
          {},
          url && h('span', {class: 'story-site'}, siteName(url)),
          h('time', {class: 'story-time', datetime: story.time, title: exactTime(Date.parse(story.time))}),
        ),
      ),
    ),
    h(
      'div',
      {class: 'story-actions'},
      h(
        'a',
        {class: 'button button-quiet story-comments numeric', href: `${site.itemUrl}${story.id}`, ...elsewhere},
        icon('comments', 18),
        h('span', {'data-part': 'comments'}),
        h('span', {class: 'visually-hidden', 'data-part': 'comments-word'}),
      ),
      h(
        'button',
        {
          class: 'button button-quiet button-icon story-hide',
          type: 'button',
          title: 'Hide this story',
          'aria-label': `Hide “${story.title}”`,
          onclick: () => actions.hide(story.id),
        },
        icon('hide', 18),
      ),
    ),
  );
  updateStoryRow(row, story, index);
  return row;
}

export function updateStoryRow(row: HTMLElement, story: Story, index: number) {
  const part = (selector: string) => row.querySelector<HTMLElement>(selector)!;
  setText(part('.story-rank'), count(index + 1));
  const score = part('[data-part="score"]');
  score.dataset.heat = String(heat(story.score));
  setText(score, plural(story.score, 'point'));
  setText(part('[data-part="comments"]'), count(story.descendants));
  setText(part('[data-part="comments-word"]'), story.descendants === 1 ? ' comment' : ' comments');
  setText(part('time'), relativeTime(Date.parse(story.time), Date.now(), {style: 'narrow'}));
}

export function storySkeleton(index: number): HTMLElement {
  return h(
    'div',
    {class: 'story story-skeleton'},
    h('span', {class: 'story-rank'}, h('span', {class: 'skeleton'})),
    h(
      'div',
      {class: 'story-main'},
      h('span', {class: `skeleton skeleton-title skeleton-${index % 4}`}),
      h('span', {class: 'skeleton skeleton-meta'}),
    ),
  );
}
