import { typed } from './graphql.ts';

/** Parts of a shop that its query requests. */
const facts = [
  'active_product',
  'allow_manage_all',
  'assets',
  'core',
  'closed_info',
  'create_info',
  'favorite',
  'location',
  'status',
  'is_open',
  'other-goldos',
  'shopstats',
  'shop-snippet',
  'other-shiploc',
  'shopHomeType',
];

/** Queries a shop's number and name, by its number or its name in addresses. */
export const shopQuery = [
  'query ShopInfoCore($id: Int!, $domain: String) {',
  `shopInfoByID(input: {shopIDs: [$id], fields: ${JSON.stringify(facts)}, domain: $domain, source: "shoppage"})`,
  typed(`
    {
      result {
        shopCore {
          domain
          shopID
          name
          defaultSort
        }
        createInfo {
          openSince
        }
        activeProduct
        location
        isOpen
        shopHomeType
        statusInfo {
          shopStatus
          statusMessage
          statusTitle
          tickerType
        }
        goldOS {
          isGold
          isGoldBadge
          isOfficial
          badge
          shopTier
        }
      }
      error {
        message
      }
    }
  `),
  '}',
].join(' ');

/** Queries one page of a shop's products. */
export const productsQuery = [
  'query ShopProducts($sid: String!, $source: String, $page: Int, $perPage: Int, $keyword: String,',
  '$etalaseId: String, $sort: Int, $user_districtId: String, $user_cityId: String, $user_lat: String,',
  '$user_long: String) { GetShopProduct(shopID: $sid, source: $source, filter: {page: $page, perPage: $perPage,',
  'fkeyword: $keyword, fmenu: $etalaseId, sort: $sort, user_districtId: $user_districtId,',
  'user_cityId: $user_cityId, user_lat: $user_lat, user_long: $user_long})',
  typed(`
    {
      status
      errors
      links {
        prev
        next
      }
      data {
        name
        product_url
        product_id
        price {
          text_idr
        }
        primary_image {
          original
          thumbnail
          resize300
        }
        flags {
          isSold
          isPreorder
          isWholesale
          isWishlist
        }
        campaign {
          discounted_percentage
          original_price_fmt
          start_date
          end_date
        }
        label {
          color_hex
          content
        }
        label_groups {
          position
          title
          type
          url
          styles {
            key
            value
          }
        }
        badge {
          title
          image_url
        }
        stats {
          reviewCount
          rating
          averageRating
        }
        category {
          id
        }
      }
    }
  `),
  '}',
].join(' ');
